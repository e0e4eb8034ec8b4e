"""Where cases come from that nobody drew: tables of factors, covering arrays over them, and all small calls."""
