/* The worker protocol of Mesh Conformance in C99 and POSIX: see conformance.h. Lines of JSON come on one descriptor and
 * answers go to another; each case is a program of collectives, run step by step by the functions of the backend. */
#define _POSIX_C_SOURCE 200809L
#include "conformance.h"
#include "conformance_read.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

enum { GUARD = 64, MOST_COMMS = 32 }; /* bytes beside what is received, to see who writes there; groups kept */

static const conf_backend *backend;
static conf_ranks ranks; /* `size` is 0 where this process stands for all */
static char failed[400], (*why)[400];
static int *status, comm_count; /* `status` and `why` are of each rank in the case under way */
static conf_comm *comms[MOST_COMMS]; /* of each rank, by the groups that it may be in */

static const char *const REDUCTIONS[] = {"sum", "product", "max", "min", "and", "or", "xor", "mean"};
/* What this file can hand over; the words of the backend's own table go before. */
static const conf_claim LIMITS[] = {
    {"*", "layout", "contiguous"}, {"*", "axes", "one,several"}, {"*", "ranks", "alike"}, {"*", "calls", "legal"},
    {"*", "groups", "none,even,uneven,strided,unsorted,singletons"}, {"*", "world", "1,2,3,4,5,6,7,8"},
    {"permute", "pairs", "given"}, {"all_reduce", "local_axes", ""},
    {"all_reduce,reduce,scan,reduce_scatter", "op", "sum,product,max,min,and,or,xor,mean"}, {0, 0, 0}};

size_t conf_size(conf_type type) { return WIDTHS[type]; }
const char *conf_name(conf_type type) { return DTYPES[type]; }

int conf_fail(int code, const char *format, ...) {
    va_list given;
    va_start(given, format);
    vsnprintf(failed, sizeof failed, format, given);
    va_end(given);
    return code;
}

static int local(int rank) { return !ranks.size || rank == ranks.rank; }

static int coordinate(const program *p, int rank, int axis) { /* ranks count the last axis fastest */
    for (int i = p->mesh.count - 1; i > axis; i--) rank /= p->sizes[i];
    return rank % p->sizes[axis];
}

/* The communicator of each rank in a step: groups of positions along the axes that it names. Kept for later cases. */
static void forget(void) {
    for (int all; comm_count; free(comms[comm_count])) {
        all = comms[--comm_count]->world > ranks.size ? comms[comm_count]->world : ranks.size;
        for (int r = 0; r < all && backend->comm_free; r++)
            if (local(r)) backend->comm_free(&comms[comm_count][r]);
    }
}

static conf_comm *meet(const program *p, const step *s, int *code) {
    int length = 1, each = s->grouped ? s->groups : 1, seen = 0, r, k;
    int all = ranks.size > p->world ? ranks.size : p->world;
    int *axis = take((size_t)(s->axes.count + 1) * sizeof *axis);
    int *named = take((size_t)(p->mesh.count + 1) * sizeof *named);
    for (int i = 0; i < s->axes.count; length *= p->sizes[axis[i++]]) {
        while (axis[i] < p->mesh.count && strcmp(p->mesh.of[axis[i]], s->axes.of[i])) axis[i]++;
        if (axis[i] == p->mesh.count || named[axis[i]]++)
            return *code = conf_fail(CONF_UNSUPPORTED, "axis %s is not there, or comes twice", s->axes.of[i]), NULL;
    }
    struct { int group, size, start, at; } *place = take((size_t)(length + 1) * sizeof *place); /* of each position */
    for (int i = 0, start = 0; i < each; start = seen, i++)
        for (int m = 0, size = s->grouped ? s->group[i].count : length; m < (size ? size : 1); m++, seen++) {
            int at = s->grouped && size ? s->group[i].of[m] : m;
            if (!size || at < 0 || at >= length || place[at].size)
                return *code = conf_fail(CONF_UNSUPPORTED, "the groups of %s are no partition", s->op), NULL;
            place[at].group = i, place[at].size = size, place[at].start = start, place[at].at = m;
        }
    if (seen < length) return *code = conf_fail(CONF_UNSUPPORTED, "the groups of %s leave positions out", s->op), NULL;
    conf_comm *of = calloc(1, (size_t)all * sizeof *of + (size_t)p->world * sizeof(int));
    if (!of) die("there is not enough memory");
    for (r = 0; r < all; r++) of[r].world_rank = r, of[r].world = p->world, of[r].rank = of[r].group = -1;
    for (r = 0; r < p->world; r++) {
        int position = 0, line = 0, *members = (int *)(of + all);
        for (int i = 0; i < s->axes.count; i++) position = position * p->sizes[axis[i]] + coordinate(p, r, axis[i]);
        for (int i = 0; i < p->mesh.count; i++) line = named[i] ? line : line * p->sizes[i] + coordinate(p, r, i);
        of[r].rank = place[position].at, of[r].size = place[position].size;
        of[r].group = line * each + place[position].group;
        of[r].members = members += line * length + place[position].start, members[of[r].rank] = r;
    }
    for (k = 0; k < comm_count; k++) {
        for (r = 0; r < p->world && comms[k]->world == p->world && comms[k][r].group == of[r].group; r++)
            if (comms[k][r].rank != of[r].rank || comms[k][r].size != of[r].size) break;
        if (r == p->world) return free(of), comms[k];
    }
    if (comm_count == MOST_COMMS) forget();
    for (r = 0; r < all && backend->comm_init && !*code; r++)
        if (local(r)) *code = backend->comm_init(&of[r]);
    return *code ? NULL : (comms[comm_count++] = of);
}

/* Steps. `c` is NULL where only asked is whether the backend has the function. */
static const char *const OPERATIONS[] = {"all_reduce", "reduce", "scan", "reduce_scatter", "broadcast", "all_gather",
                                         "gather", "scatter", "all_to_all", "permute", "barrier"};
enum { ALL_REDUCE, REDUCE, SCAN, REDUCE_SCATTER, BROADCAST, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL, PERMUTE, BARRIER,
       NONE };

#define CALL(function, ...) return !backend->function ? CONF_UNSUPPORTED : !c ? CONF_OK : backend->function(__VA_ARGS__)
static int call(int op, const void *send, void *recv, size_t n, conf_type t, conf_op f, const step *s, conf_comm *c) {
    int to = -1, from = -1;
    for (int i = 0; c && i < s->pairs; i++) {
        if (s->pair[i].count != 2) return conf_fail(CONF_UNSUPPORTED, "pair %d has not a source and a destination", i);
        if (s->pair[i].of[0] == c->rank) to = s->pair[i].of[1];
        if (s->pair[i].of[1] == c->rank) from = s->pair[i].of[0];
    }
    switch (op) {
    case ALL_REDUCE: CALL(all_reduce, send, recv, n, t, f, c);
    case REDUCE: CALL(reduce, send, recv, n, t, f, s->root, c);
    case SCAN: CALL(scan, send, recv, n, t, f, s->exclusive, c);
    case REDUCE_SCATTER: CALL(reduce_scatter, send, recv, n, t, f, c);
    case BROADCAST: CALL(broadcast, send, recv, n, t, s->root, c);
    case ALL_GATHER: CALL(all_gather, send, recv, n, t, c);
    case GATHER: CALL(gather, send, recv, n, t, s->root, c);
    case SCATTER: CALL(scatter, send, recv, n, t, s->root, c);
    case ALL_TO_ALL: CALL(all_to_all, send, recv, n, t, c);
    case PERMUTE: CALL(permute, send, recv, n, t, to, from, c);
    case BARRIER: CALL(barrier, c);
    default: return conf_fail(CONF_UNSUPPORTED, "the kit for C has no %s", s->op);
    }
}

static void turn(unsigned char *to, const unsigned char *from, size_t outer, size_t size, size_t chunk, int back) {
    for (size_t o = 0; o < outer; o++) /* pieces that lie beside each other `outer` times become one after the other */
        for (size_t m = 0, a, b; m < size; m++)
            a = (m * outer + o) * chunk, b = (o * size + m) * chunk,
            memcpy(to + (back ? b : a), from + (back ? a : b), chunk);
}

static int fold(block *b, int axis, int tiled, int size, int joins, size_t *outer) {
    /* Make of a block the piece that it is cut into, or what joins pieces like it. */
    int axes = b->axes + (joins && !tiled), at = axis < 0 ? axis + axes : axis;
    if (at < 0 || at >= axes || axes > MOST_AXES) return conf_fail(CONF_UNSUPPORTED, "axis %d of %d axes", axis, axes);
    size_t *extent = b->shape + at, rest = (size_t)(b->axes - at) * sizeof *extent, n = (size_t)size;
    *outer = product(b->shape, at);
    if (!joins && (tiled ? *extent % n : *extent != n))
        return conf_fail(CONF_UNSUPPORTED, "an extent of %zu has no %d pieces", *extent, size);
    if (tiled) *extent = joins ? *extent * n : *extent / n;
    else if (joins) memmove(extent + 1, extent, rest), *extent = n, b->axes++;
    else memmove(extent, extent + 1, rest - sizeof *extent), b->axes--;
    return CONF_OK;
}

static void refuse(int rank, int code) {
    if (!code || status[rank]) return;
    status[rank] = code;
    snprintf(why[rank], sizeof *why, "%s", *failed ? failed : "the function gave no reason; conf_fail does");
}

static int one_operand(int op, program *p, const step *s, const block *in, block *made, conf_comm *comm) {
    int cuts = op == REDUCE_SCATTER || op == SCATTER || op == ALL_TO_ALL, code = 0;
    int cut_at = op == ALL_TO_ALL ? s->split_axis : s->axis, join_at = op == ALL_TO_ALL ? s->concat_axis : s->axis;
    int joins = op == ALL_GATHER || op == GATHER || op == ALL_TO_ALL;
    unsigned char **room = take((size_t)p->world * sizeof *room);
    size_t *outer = take((size_t)p->world * sizeof *outer), cut = 1;
    conf_op f = CONF_SUM;
    while (f < CONF_NO_OP && s->reduction && strcmp(s->reduction, REDUCTIONS[f])) f++;
    if (backend->group_start && (code = backend->group_start())) return code;
    for (int r = 0; r < p->world && !code; r++) { /* all look at the blocks of all, so that nobody refuses alone */
        const block *b = in ? &in[r] : NULL, *first = in ? &in[comm[r].members[0]] : NULL;
        *failed = 0;
        if (!in && local(r)) refuse(r, call(op, NULL, NULL, 0, CONF_OTHER, f, s, &comm[r]));
        if (!in) continue;
        if (!b->data || !first->data || b->type != first->type || b->axes != first->axes ||
            memcmp(b->shape, first->shape, (size_t)b->axes * sizeof *b->shape)) {
            code = conf_fail(CONF_UNSUPPORTED, "ranks of a group hold blocks of different dtypes or shapes, or none");
            break;
        }
        made[r] = *b;
        if (cuts && (code = fold(&made[r], cut_at, s->tiled, comm[r].size, 0, &cut))) break;
        size_t count = elements(&made[r]), width = conf_size(b->type), bytes;
        if (joins && (code = fold(&made[r], join_at, s->tiled, comm[r].size, 1, &outer[r]))) break;
        int gets = (op != REDUCE && op != GATHER) || comm[r].rank == s->root;
        made[r].data = gets ? b->data : NULL; /* of another process: that there is a block is all that is known */
        if (!local(r)) continue;
        const unsigned char *send = b->data;
        unsigned char *turned = cuts && cut > 1 ? take((size_t)comm[r].size * count * width + 1) : NULL;
        if (turned) turn(turned, send, cut, (size_t)comm[r].size, count * width / cut, 0), send = turned;
        bytes = elements(&made[r]) * width;
        memset(room[r] = take(bytes + 2 * GUARD), 0xa5, bytes + 2 * GUARD);
        made[r].data = gets ? room[r] + GUARD : NULL;
        refuse(r, call(op, send, made[r].data, count, b->type, f, s, &comm[r]));
    }
    int ended = (code ? 0 : (*failed = 0)), given = backend->group_end ? backend->group_end() : ended;
    for (int r = 0; r < p->world && !(code = code ? code : given); r++) {
        if (!local(r) || !room[r]) continue;
        size_t bytes = elements(&made[r]) * conf_size(made[r].type), size = (size_t)comm[r].size;
        for (size_t i = 0; i < GUARD; i++)
            if (room[r][i] != 0xa5 || room[r][GUARD + bytes + i] != 0xa5)
                refuse(r, conf_fail(CONF_INTERNAL, "bytes beside the receive buffer were written"));
        if (joins && outer[r] > 1 && made[r].data)
            turn(made[r].data = take(bytes + 1), room[r] + GUARD, outer[r], size, bytes / outer[r] / size, 1);
    }
    return code;
}

static int run_step(program *p, const step *s) {
    int op = 0, code = 0;
    while (op < NONE && strcmp(s->op, OPERATIONS[op])) op++;
    if (s->beyond || !s->axes.count || op == NONE || call(op, NULL, NULL, 0, CONF_OTHER, CONF_SUM, s, NULL))
        return conf_fail(CONF_UNSUPPORTED, "%s is not there, or not in this form", s->op);
    conf_comm *comm = meet(p, s, &code);
    for (int r = 1; !code && r < p->world; r++)
        if (op >= REDUCE_SCATTER && op <= PERMUTE && op != BROADCAST && comm[r].size != comm[0].size)
            return conf_fail(CONF_UNSUPPORTED, "groups of %s differ in size", s->op);
    if (op == BARRIER && !code) code = one_operand(op, p, s, NULL, NULL, comm);
    for (int k = 0; op != BARRIER && k < s->inputs.count && !code; k++) {
        block *in = find(p, s->inputs.of[k]);
        if (!in || k >= s->outputs.count) return conf_fail(CONF_UNSUPPORTED, "a value of the program is not there");
        code = one_operand(op, p, s, in, new_value(p, s->outputs.of[k], 0), comm);
    }
    return code;
}

static void gathered(text *to, text *mine, int owner) { /* what the process of rank `owner` has to say */
    if (ranks.size && owner >= ranks.size) owner = 0;
    if (!ranks.rank && local(owner)) add(to, mine->text ? mine->text : "", mine->used);
    else if (local(owner)) ranks.send(&mine->used, sizeof mine->used, 0), ranks.send(mine->text, mine->used, 0);
    else if (!ranks.rank) {
        size_t count;
        ranks.recv(&count, sizeof count, owner);
        char *came = take(count + 1);
        ranks.recv(came, count, owner);
        add(to, came, count);
    }
    mine->used = 0;
}

static void observe(json asked, text *to) {
    static const char *const CATEGORIES[] = {"", "invalid_argument", "unsupported"};
    static text mine;
    struct timespec from, till;
    char told[200];
    program p = read_case(asked, ranks.files);
    int worst = 0, code = p.beyond ? conf_fail(CONF_UNSUPPORTED, "nothing befalls ranks here") : 0;
    status = take((size_t)p.world * sizeof *status), why = take((size_t)p.world * sizeof *why);
    if (ranks.size && p.world > ranks.size)
        code = conf_fail(CONF_UNSUPPORTED, "there are %d processes for %d ranks", ranks.size, p.world);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; !worst && (i < p.steps || code); i++) {
        if (!code) code = run_step(&p, &p.step[i]);
        for (int r = 0; r < p.world; r++) {
            if (local(r) || r >= ranks.size) refuse(r, code);
            worst = status[r] ? status[r] : worst;
        }
        if (ranks.size) worst = ranks.worst(worst < 0 ? CONF_INTERNAL : worst);
        code = 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &till);
    put(to, "{\"results\":{");
    for (int i = 0; i < p.results.count && !worst; i++) {
        block *made = find(&p, p.results.of[i]);
        if (i) put(to, ",");
        quote(to, p.results.of[i]);
        for (int r = 0; r < p.world; gathered(to, &mine, r++)) {
            put(&mine, r ? "," : ":[");
            if (!local(r) || !made || !made[r].data) { put(&mine, "null"); continue; }
            put(&mine, "{\"dtype\":"), quote(&mine, made[r].dtype), put(&mine, ",\"shape\":[");
            for (int a = 0; a < made[r].axes; a++)
                snprintf(told, sizeof told, "%s%zu", a ? "," : "", made[r].shape[a]), put(&mine, told);
            put(&mine, "],\"bits\":\"");
            hex(&mine, made[r].data, elements(&made[r]) * conf_size(made[r].type)), put(&mine, "\"}");
        }
        put(to, "]");
    }
    put(to, "},\"errors\":[");
    for (int r = 0; r < p.world && worst; gathered(to, &mine, r++)) {
        const char *kind = CATEGORIES[status[r] == CONF_INVALID || status[r] == CONF_UNSUPPORTED ? status[r] : 0];
        put(&mine, r ? "," : "");
        if (!status[r]) { put(&mine, "null"); continue; }
        snprintf(told, sizeof told, "{\"kind\":\"status %d\",\"category\":\"%s\",\"message\":", status[r],
                 *kind ? kind : "internal");
        put(&mine, told), quote(&mine, why[r]), put(&mine, "}");
    }
    put(to, "],\"touched\":[");
    size_t start = to->used;
    for (int i = 0; i < p.values; i++)
        for (int r = 0; r < p.world && p.value[i].input; gathered(to, &mine, r++)) {
            block *b = &p.value[i].of[r];
            size_t width = conf_size(b->type), at = 0, count = local(r) ? elements(b) : 0;
            while (at < count && !memcmp(b->data + at * width, b->was + at * width, width)) at++;
            if (at == count) continue;
            snprintf(told, sizeof told, ",\"rank\":%d,\"index\":%zu,\"before\":\"", r, at);
            put(&mine, ",{\"input\":"), quote(&mine, p.value[i].name), put(&mine, told);
            hex(&mine, b->was + at * width, width), put(&mine, "\",\"after\":\"");
            hex(&mine, b->data + at * width, width), put(&mine, "\"}");
        }
    if (to->used > start) to->text[start] = ' '; /* the comma before the first */
    double seconds = (double)(till.tv_sec - from.tv_sec) + 1e-9 * (double)(till.tv_nsec - from.tv_nsec);
    snprintf(told, sizeof told, "],\"seconds\":%.9f,\"health\":", seconds);
    put(to, told);
}

/* The conversation. */
static text answer;
static const char *separator;

static void say(const char *name, const char *told) {
    put(&answer, separator), quote(&answer, name), put(&answer, ":"), quote(&answer, told);
    separator = ",";
}

static void listed(const char *words, int world) { /* "a,b" as JSON; numbers of ranks no greater than there are */
    put(&answer, "[");
    for (int length, count = 0; words && *words; words += length + (words[length] == ',')) {
        char word[80];
        snprintf(word, sizeof word, "%.*s", length = (int)strcspn(words, ","), words);
        if (world && ranks.size && atoi(word) > ranks.size) continue;
        put(&answer, count++ ? "," : ""), quote(&answer, word);
    }
    put(&answer, "]");
}

static int about(const conf_claim *claim, const char *op) {
    size_t length = strlen(op);
    for (const char *at = claim->operations; *at; at += strcspn(at, ","), at += *at == ',')
        if (*at == '*' || (strcspn(at, ",") == length && !strncmp(at, op, length))) return 1;
    return 0;
}

static int limited(const conf_claim *claims, const char *op, const char *feature) { /* whether a table limits it */
    for (; claims && claims->operations; claims++)
        if (about(claims, op) && !strcmp(claims->feature, feature)) return 1;
    return 0;
}

static void limits(const conf_claim *claims, const conf_claim *before, const char *op) { /* but for those of `before` */
    for (; claims && claims->operations; claims++) {
        if (!about(claims, op) || limited(before, op, claims->feature)) continue;
        put(&answer, separator), quote(&answer, claims->feature), put(&answer, ":");
        listed(claims->words, !strcmp(claims->feature, "world"));
        separator = ",";
    }
}

static void introduce(void) {
    static const step nothing;
    put(&answer, "{\"type\":\"ready\",\"protocol\":1,\"name\":"), quote(&answer, backend->name);
    put(&answer, ",\"description\":{"), separator = "";
    if (backend->describe) backend->describe(say);
    put(&answer, "},\"claims\":{");
    for (int op = 0, first = 1; op < NONE; op++) {
        if (call(op, NULL, NULL, 0, CONF_OTHER, CONF_SUM, &nothing, NULL)) continue;
        put(&answer, first ? "" : ","), quote(&answer, OPERATIONS[op]), put(&answer, ":{"), separator = "", first = 0;
        limits(backend->claims, NULL, OPERATIONS[op]);
        limits(LIMITS, backend->claims, OPERATIONS[op]);
        put(&answer, "}");
    }
    put(&answer, "},\"guarantees\":"), listed(backend->guarantees, 0), put(&answer, ",\"follows\":");
    listed(backend->follows, 0), put(&answer, ",\"number_model\":");
    put(&answer, backend->number_model ? backend->number_model : "{}"), put(&answer, "}\n");
}

static int handle(json j) { /* 0 when the request is the last */
    json asked = {0}, health = {0};
    char *type = NULL, told[80];
    int seq = 0;
    answer.used = 0;
    FIELDS(&j) {
        if (IS("type")) type = string(&j);
        else if (IS("seq")) seq = number(&j);
        else if (IS("file") && !null(&j)) asked = file(ranks.files, string(&j));
        else if (peek(&j) == '{' && IS("case")) asked = j, skip(&j);
        else if (peek(&j) == '{' && IS("health")) health = j, skip(&j);
        else skip(&j);
    }
    if (!type || !strcmp(type, "stop")) return 0;
    if (!strcmp(type, "hello")) return introduce(), 1;
    snprintf(told, sizeof told, "{\"type\":\"done\",\"seq\":%d,\"observation\":", seq);
    put(&answer, told);
    if (strcmp(type, "run") || !asked.at)
        return put(&answer, "{\"errors\":[{\"kind\":\"Unsupported\",\"message\":\"no such request\","
                            "\"category\":\"unsupported\"}]}}\n"), 1;
    observe(asked, &answer);
    if (health.at) observe(health, &answer), put(&answer, "null}");
    put(&answer, health.at ? "}}\n" : "null}}\n");
    return 1;
}

static size_t next_line(text *came, size_t done) { /* its length; 0 at the end */
    char part[65536], *end;
    memmove(came->text, came->text + done, came->used -= done);
    for (size_t seen = 0; !(end = came->used ? memchr(came->text + seen, '\n', came->used - seen) : NULL);) {
        ssize_t got = read(ranks.in, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        seen = came->used;
        add(came, part, (size_t)got);
    }
    return (size_t)(end - came->text) + 1;
}

static int serve(void) {
    text came = {0};
    add(&came, "", 0);
    for (size_t length = 0;; drop()) {
        length = ranks.rank ? 0 : next_line(&came, length);
        for (int r = 1; !ranks.rank && r < ranks.size; r++)
            ranks.send(&length, sizeof length, r), ranks.send(came.text, length, r);
        if (ranks.rank) ranks.recv(&length, sizeof length, 0);
        char *line = take(length + 1);
        if (ranks.rank) ranks.recv(line, length, 0);
        else memcpy(line, came.text, length);
        if (!length || !handle((json){line, line + length})) break;
        for (size_t at = 0; !ranks.rank && at < answer.used;) {
            ssize_t written = write(ranks.out, answer.text + at, answer.used - at);
            if (written < 0 && errno != EINTR) return 0; /* nobody reads any more */
            at += written > 0 ? (size_t)written : 0;
        }
    }
    forget(), drop(), free(came.text), free(answer.text);
    return 0;
}

int conf_serve(const conf_backend *given) {
    const char *in = getenv("CONFORMANCE_READ"), *to = getenv("CONFORMANCE_WRITE");
    if (!in || !to) die("CONFORMANCE_READ and CONFORMANCE_WRITE are not set; `conformance run` sets them");
    conf_ranks alone = {0, 0, atoi(in), atoi(to), getenv("CONFORMANCE_FILES"), NULL, NULL, NULL};
    return conf_serve_ranks(given, &alone);
}

int conf_serve_ranks(const conf_backend *given, const conf_ranks *shared) {
    backend = given;
    ranks = *shared;
    signal(SIGPIPE, SIG_IGN);
    return serve();
}
