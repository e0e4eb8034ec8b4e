// Data in files beside the page: a script each, for a page from disk may load scripts and nothing else.

let DATA = null;
const arrived = new Map();
const asked = new Map();

// Called by the data files.
function conformanceData(name, value) { arrived.set(name, value); }

// Return what is in a data file, null where there is none.
function load(name) {
  if (!asked.has(name)) {
    asked.set(name, new Promise((done) => {
      const end = () => done(arrived.has(name) ? arrived.get(name) : null);
      document.head.append(element("script", { src: `data/${name}.js`, onload: end, onerror: end }));
    }));
  }
  return asked.get(name);
}

const stemOf = (backend) => DATA.stems[DATA.backends.indexOf(backend)];
const day = (at) => DATA.runs[at][0].slice(0, 10);

// Return the shard of a case: the first two digits of the digest at the end of its id.
function shardOf(name) {
  const digits = name.slice(name.lastIndexOf("/") + 1).slice(0, 2);
  return /^[0-9a-f]{2}$/.test(digits) ? digits : "00";
}
