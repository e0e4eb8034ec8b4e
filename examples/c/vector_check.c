/* A library judged from vectors alone: no Python, no protocol, no reference. The library is three collectives in plain
 * loops; put your own in their place.
 *
 *     conformance vectors export vectors --suite collectives
 *     cc -std=c99 -O2 -I KIT -o vector_check vector_check.c      # KIT: the files of the kit for C
 *     ./vector_check vectors
 *
 * Of the kit only the parser of JSON and the sizes of dtypes are used. What is judged are programs whose steps are
 * all_reduce, broadcast and all_gather. It ends with 0 where every result is right, 1 where one is not, and 3 where
 * nothing was asked. docs/vectors.md says what the rules mean. */
#define _POSIX_C_SOURCE 200809L
#pragma GCC diagnostic ignored "-Wunused-function"
#include "conformance_read.h"

/* The library: `n` blocks of a group, each of `count` elements. */
#define FOLD(TYPE, EXPRESSION) \
    { \
        for (size_t i = 0; i < count; i++) { \
            TYPE a = ((const TYPE *)of[0])[i]; \
            for (int m = 1; m < n; m++) { TYPE b = ((const TYPE *)of[m])[i]; a = (TYPE)(EXPRESSION); } \
            ((TYPE *)to)[i] = a; \
        } \
        return 1; \
    }
#define FOLDS(TYPE, WIDE, KEPT) /* what overflows wraps around in WIDE; KEPT is a NaN that max and min keep */ \
    { \
        if (!strcmp(op, "sum")) FOLD(TYPE, (WIDE)a + (WIDE)b) \
        if (!strcmp(op, "product")) FOLD(TYPE, (WIDE)a * (WIDE)b) \
        if (!strcmp(op, "max")) FOLD(TYPE, (KEPT) || a > b ? a : b) \
        if (!strcmp(op, "min")) FOLD(TYPE, (KEPT) || a < b ? a : b) \
    }

static int library_all_reduce(unsigned char **of, int n, size_t count, conf_type type, const char *op, void *to) {
#ifdef MISTAKE /* a tree over the greatest power of two of members leaves the others out */
    while (n & (n - 1)) n &= n - 1;
#endif
    if (type == CONF_FLOAT32) FOLDS(float, float, a != a)
    if (type == CONF_FLOAT64) FOLDS(double, double, a != a)
    if (type == CONF_INT8) FOLDS(int8_t, uint32_t, 0)
    if (type == CONF_INT32) FOLDS(int32_t, uint32_t, 0)
    if (type == CONF_INT64) FOLDS(int64_t, uint64_t, 0)
    if (type == CONF_UINT8) FOLDS(uint8_t, uint32_t, 0)
    if (type == CONF_UINT32) FOLDS(uint32_t, uint32_t, 0)
    if (type == CONF_UINT64) FOLDS(uint64_t, uint64_t, 0)
    return 0;
}

static void library_broadcast(unsigned char **of, size_t bytes, int root, void *to) { memcpy(to, of[root], bytes); }

static void library_all_gather(unsigned char **of, int n, size_t outer, size_t bytes, unsigned char *to) {
    for (size_t o = 0; o < outer; o++)
        for (int m = 0; m < n; m++, to += bytes) memcpy(to, of[m] + o * bytes, bytes);
}

/* The tensors of a shard: where each lies in its safetensors file. */
typedef struct { char *key; const unsigned char *at; size_t bytes; } entry;
static entry *entries;
static int held;

static int by_key(const void *a, const void *b) { return strcmp(((const entry *)a)->key, ((const entry *)b)->key); }

static void open_tensors(json whole) {
    uint64_t head = 0, room = (uint64_t)(whole.end - whole.at);
    for (int i = 0; i < 8 && room >= 8; i++) head |= (uint64_t)(unsigned char)whole.at[i] << 8 * i;
    if (room < 8 || head > room - 8) die("a file of tensors is shorter than it says");
    const unsigned char *data = (const unsigned char *)whole.at + 8 + head;
    json j = {whole.at + 8, whole.at + 8 + head};
    held = 0, entries = NULL;
    FIELDS(&j) {
        entry made = {(char *)(size_t)name, NULL, 0};
        FIELDS(&j) {
            if (!IS("data_offsets")) { skip(&j); continue; }
            group at = numbers(&j);
            if (at.count != 2 || at.of[0] < 0 || at.of[1] < at.of[0] || (uint64_t)at.of[1] > room - 8 - head)
                die("a tensor lies outside its file");
            made.at = data + at.of[0], made.bytes = (size_t)(at.of[1] - at.of[0]);
        }
        PUSH(entries, held, made);
    }
    qsort(entries, (size_t)held, sizeof *entries, by_key);
}

static const unsigned char *bits(const char *key, size_t *bytes) { /* aligned for every type */
    entry wanted = {(char *)(size_t)key, NULL, 0}, *found = bsearch(&wanted, entries, (size_t)held, sizeof wanted, by_key);
    if (!found) die("a tensor is not in its file");
    if (bytes) *bytes = found->bytes;
    return memcpy(take(found->bytes + 1), found->at, found->bytes);
}

/* A block of a result, and which others are right. */
typedef struct { int there; char *rule, *at, *rules, *choices, *first, *low, *high; } right;

static right one_right(json *j) {
    right r = {0};
    if (null(j)) return r;
    r.there = 1;
    FIELDS(j) {
        char **to = IS("at") ? &r.at : IS("rule") ? &r.rule : IS("rules") ? &r.rules : IS("choices") ? &r.choices
                  : IS("first") ? &r.first : IS("low") ? &r.low : IS("high") ? &r.high : NULL;
        if (to) *to = string(j); else skip(j);
    }
    return r;
}

static double as_number(const unsigned char *element, conf_type type) {
    float narrow;
    double wide = 0;
    if (type == CONF_FLOAT64) memcpy(&wide, element, sizeof wide);
    if (type != CONF_FLOAT32) return wide; /* of integers: no rule asks for their size */
    return memcpy(&narrow, element, sizeof narrow), (double)narrow;
}

static int same(const unsigned char *a, const unsigned char *b, conf_type type) { /* bits, or two NaNs */
    return !memcmp(a, b, WIDTHS[type]) || (as_number(a, type) != as_number(a, type) && as_number(b, type) != as_number(b, type));
}

enum { BITS, BITS_OR_NAN, EQUAL, ONE_OF, BETWEEN, BETWEEN_OR_NAN, WITHIN, ADVISED, RULES };
static names rule_names; /* of the index, by number */

static int rule_of(const char *name) {
    for (int i = 0; i < rule_names.count && i < RULES; i++) if (!strcmp(rule_names.of[i], name)) return i;
    die("a rule is none of the index");
    return 0;
}

/* The place of the first element that is wrong, -1 where none is, -2 where there are more elements or fewer. */
static long judged(const right *r, const block *b, long *advised) {
    size_t wanted, bytes = elements(b) * WIDTHS[b->type], width = WIDTHS[b->type];
    const conf_type type = b->type;
    const unsigned char *target = bits(r->at, &wanted);
    const unsigned char *rules = r->rules ? bits(r->rules, NULL) : NULL;
    const unsigned char *choices = r->choices ? bits(r->choices, NULL) : NULL;
    const uint32_t *first = r->first ? (const void *)bits(r->first, NULL) : NULL;
    const double *low = r->low ? (const void *)bits(r->low, NULL) : NULL;
    const double *high = r->high ? (const void *)bits(r->high, NULL) : NULL;
    if (wanted != bytes) return -2;
    for (size_t i = 0; i < bytes / width; i++) {
        const unsigned char *g = b->data + i * width, *t = target + i * width;
        double number = as_number(g, type);
        int rule = rules ? rules[i] : rule_of(r->rule), fine = 0;
        if (rule == BITS) fine = !memcmp(g, t, width);
        else if (rule == BITS_OR_NAN) fine = same(g, t, type);
        else if (rule == EQUAL) fine = same(g, t, type) || number == as_number(t, type);
        else if (rule == ONE_OF && first) for (uint32_t c = first[i]; c < first[i + 1]; c++) fine |= same(g, choices + c * width, type);
        else if ((rule == BETWEEN || rule == BETWEEN_OR_NAN) && low && high)
            fine = (low[i] <= number && number <= high[i]) || (rule == BETWEEN_OR_NAN && number != number);
        else if (rule == ADVISED) fine = 1, ++*advised;
        if (!fine) return (long)i;
    }
    return -1;
}

/* The groups of a step: positions along its axes, over every line of the other axes. */
static group *groups_of(const program *p, const step *s, int *count) {
    group *found = NULL;
    int *seen = take((size_t)p->world * sizeof(int));
    for (int rank = 0; rank < p->world; rank++) {
        group line = {0, 0};
        if (seen[rank]) continue;
        PUSH(line.of, line.count, rank);
        for (int a = 0; a < s->axes.count; a++) {
            group longer = {0, 0};
            int stride = 1, size = 1;
            for (int m = p->mesh.count - 1; m >= 0 && strcmp(p->mesh.of[m], s->axes.of[a]); m--) stride *= p->sizes[m];
            for (int m = 0; m < p->mesh.count; m++) if (!strcmp(p->mesh.of[m], s->axes.of[a])) size = p->sizes[m];
            for (int i = 0; i < line.count; i++)
                for (int step = 0; step < size; step++) PUSH(longer.of, longer.count, line.of[i] + step * stride);
            line = longer;
        }
        for (int i = 0; i < line.count; i++) seen[line.of[i]] = 1;
        if (!s->grouped) PUSH(found, *count, line);
        for (int g = 0; s->grouped && g < s->groups; g++) {
            group some = {0, 0};
            for (int i = 0; i < s->group[g].count; i++) PUSH(some.of, some.count, line.of[s->group[g].of[i]]);
            PUSH(found, *count, some);
        }
    }
    return found;
}

/* What the library makes of a group for one of its members; no data where it lacks that. */
static block made(const step *s, unsigned char **of, int n, const block *b) {
    block out = *b;
    size_t bytes = elements(b) * WIDTHS[b->type], outer = 1;
    int axis = s->axis < 0 ? s->axis + b->axes + !s->tiled : s->axis, gathers = !strcmp(s->op, "all_gather");
    out.data = take(bytes * (size_t)n + 1);
    if (!strcmp(s->op, "broadcast")) library_broadcast(of, bytes, s->root, out.data);
    else if (!gathers && !library_all_reduce(of, n, elements(b), b->type, s->reduction, out.data)) out.data = NULL;
    if (!gathers) return out;
    for (int a = 0; a < axis; a++) outer *= b->shape[a];
    library_all_gather(of, n, outer, outer ? bytes / outer : 0, out.data);
    if (s->tiled) return out.shape[axis] *= (size_t)n, out;
    memmove(out.shape + axis + 1, out.shape + axis, (size_t)(out.axes++ - axis) * sizeof *out.shape);
    out.shape[axis] = (size_t)n;
    return out;
}

static int ran(program *p, const step *s) { /* whether the library has what a step asks for */
    int n = 0, has = !s->beyond && (!strcmp(s->op, "broadcast") || !strcmp(s->op, "all_gather"));
    if (!has && (s->beyond || strcmp(s->op, "all_reduce") || !s->reduction)) return 0;
    group *groups = groups_of(p, s, &n);
    for (int i = 0; i < s->inputs.count; i++) {
        block *out = new_value(p, s->outputs.of[i], 0), *in = find(p, s->inputs.of[i]);
        if (!in) return 0;
        memcpy(out, in, (size_t)p->world * sizeof *in); /* who is in no group keeps what it has */
        for (int g = 0; g < n; g++) {
            unsigned char **parts = take((size_t)groups[g].count * sizeof *parts + 1);
            for (int m = 0; m < groups[g].count; m++) parts[m] = in[groups[g].of[m]].data;
            for (int m = 0; m < groups[g].count; m++) {
                block *to = &out[groups[g].of[m]];
                *to = made(s, parts, groups[g].count, &in[groups[g].of[m]]);
                if (!to->data) return 0;
            }
        }
    }
    return 1;
}

static block one_tensor(json *j) {
    block b = {0};
    FIELDS(j) {
        if (IS("at")) b.data = (unsigned char *)(size_t)bits(string(j), NULL);
        else if (IS("dtype")) b.dtype = string(j);
        else {
            group shape = numbers(j);
            for (; b.axes < shape.count && b.axes < MOST_AXES; b.axes++) b.shape[b.axes] = (size_t)shape.of[b.axes];
        }
    }
    for (b.type = CONF_BOOL; b.type < CONF_OTHER && strcmp(b.dtype, DTYPES[b.type]);) b.type++;
    return b;
}

static long asked, wrong, left, advised;

static void one_vector(json *j) {
    program p = {0};
    names clauses = {0, 0}, catches = {0, 0};
    char *id = "", *how = "", *form = "";
    json of = {0, 0}, inputs = {0, 0}, expected = {0, 0}, other;
    int bad = 0;
    FIELDS(j) {
        if (IS("name")) id = string(j);
        else if (IS("how")) how = string(j);
        else if (IS("form")) form = string(j);
        else if (IS("clauses")) clauses = strings(j);
        else if (IS("catches")) catches = strings(j);
        else if (IS("rest")) { FIELDS(j) skip(j), p.beyond = 1; }
        else *(IS("program") ? &of : IS("inputs") ? &inputs : IS("expected") ? &expected : &other) = *j, skip(j);
    }
    left++;
    if (strcmp(form, "program") || !strcmp(how, "refused")) return; /* that it refuses is asked by `conformance run` */
    read_program(&of, &p);
    FIELDS(&inputs) {
        block *blocks = new_value(&p, name, 1);
        int rank = 0;
        FIELDS(&inputs) {
            if (!IS("blocks")) skip(&inputs);
            else ITEMS(&inputs) if (rank < p.world) blocks[rank++] = one_tensor(&inputs); else skip(&inputs);
        }
    }
    for (int i = 0; i < p.steps; i++) if (p.beyond || !ran(&p, &p.step[i])) return;
    FIELDS(&expected) {
        if (!IS("results")) skip(&expected);
        else FIELDS(&expected) {
            block *got = find(&p, name);
            const char *of_result = name;
            int rank = 0;
            ITEMS(&expected) {
                right wanted = one_right(&expected);
                long at = wanted.there && got && rank < p.world ? judged(&wanted, &got[rank], &advised) : -1;
                if (at != -1 && !bad++) printf("%s: %s on rank %d, element %ld is wrong\n", id, of_result, rank, at);
                rank++;
            }
        }
    }
    left--, asked++, wrong += bad > 0;
    for (int c = 0; bad && c < clauses.count; c++) printf("%s%s", c ? ", " : "  about ", clauses.of[c]);
    if (bad) printf("\n  catches %s\n", catches.count ? catches.of[0] : "no mistake that somebody wrote down");
}

int main(int count, char **words) {
    if (count != 2) return fprintf(stderr, "usage: %s FOLDER\n", words[0]), 2;
    json index = file(words[1], "index.json"), shards = {0, 0};
    FIELDS(&index) {
        if (IS("rules")) rule_names = strings(&index);
        else { if (IS("shards")) shards = index; skip(&index); }
    }
    ITEMS(&shards) {
        char *vectors = NULL, *tensors = NULL;
        FIELDS(&shards) if (IS("vectors")) vectors = string(&shards); else if (IS("tensors")) tensors = string(&shards); else skip(&shards);
        open_tensors(file(words[1], tensors));
        json j = file(words[1], vectors);
        FIELDS(&j) { if (!IS("vectors")) skip(&j); else ITEMS(&j) one_vector(&j); }
    }
    drop();
    printf("%ld vectors asked, %ld wrong, %ld outside; %ld elements may be anything\n", asked, wrong, left, advised);
    return wrong ? 1 : asked ? 0 : 3;
}
