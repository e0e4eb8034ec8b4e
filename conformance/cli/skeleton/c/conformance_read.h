/* How requests are read: a pull parser of JSON, files of tensors, cases, and the memory that they take. It needs nothing
 * of conformance.c, which includes it. */
#ifndef CONFORMANCE_READ_H
#define CONFORMANCE_READ_H

#include "conformance.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { const char *at, *end; } json;
typedef struct { char *text; size_t used, room; } text;
typedef struct { int count; char **of; } names;
typedef struct { int count, *of; } group;

static void die(const char *message) {
    fprintf(stderr, "conformance.c: %s\n", message);
    _exit(70);
}

/* Memory of a request: all of it goes when the request is answered. */
typedef union piece { union piece *next; double a; long double b; } piece;
static piece *taken;

static void *take(size_t bytes) {
    piece *made = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *made + bytes) : NULL;
    if (!made) die("there is not enough memory");
    made->next = taken;
    taken = made;
    return made + 1;
}

static void drop(void) { for (piece *next; taken; taken = next) { next = taken->next; free(taken); } }

static void *grown(void *list, int count, size_t each) { /* room for one more; doubled at powers of two */
    if (count & (count - 1)) return list;
    void *made = take((size_t)(count ? 2 * count : 1) * each);
    return count ? memcpy(made, list, (size_t)count * each) : made;
}
#define PUSH(list, count, made) ((list) = grown(list, count, sizeof *(list)), (list)[count] = (made), (count)++)

static void add(text *to, const void *bytes, size_t count) {
    if (to->used + count + 1 > to->room && !(to->text = realloc(to->text, to->room = 2 * (to->used + count) + 256)))
        die("there is not enough memory");
    if (count) memcpy(to->text + to->used, bytes, count);
    to->text[to->used += count] = 0;
}

static void put(text *to, const char *word) { add(to, word, strlen(word)); }

static void quote(text *to, const char *word) { /* bytes beyond ASCII each as a character, never half of one */
    char escape[8];
    for (put(to, "\""); *word; word++) {
        unsigned char c = (unsigned char)*word;
        snprintf(escape, sizeof escape, c == '"' || c == '\\' ? "\\%c" : c < 32 || c > 126 ? "\\u%04x" : "%c", c);
        put(to, escape);
    }
    put(to, "\"");
}

static void hex(text *to, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        add(to, &"0123456789abcdef"[bytes[i] >> 4], 1), add(to, &"0123456789abcdef"[bytes[i] & 15], 1);
}

/* JSON, pulled: what is read is what the caller asks for next. */
static char peek(json *j) {
    while (j->at < j->end && strchr(" \t\r\n", *j->at)) j->at++;
    return j->at < j->end ? *j->at : 0;
}

static void expect(json *j, char c) {
    if (peek(j) != c) die("a request is not the JSON that the protocol describes");
    j->at++;
}

static int more(json *j, char close) { /* whether an array or an object goes on */
    if (peek(j) == ',') j->at++;
    if (!peek(j)) die("a request ends early");
    return peek(j) != close || (j->at++, 0);
}

static unsigned digits(json *j, int count) { /* of a hexadecimal number */
    unsigned found = 0;
    while (count-- && j->at < j->end)
        found = found << 4 | (unsigned)(*j->at <= '9' ? *j->at - '0' : (*j->at | 32) - 'a' + 10), j->at++;
    return found;
}

static char *string(json *j) {
    expect(j, '"');
    const char *end = j->at;
    while (end < j->end && *end != '"') end += *end == '\\' ? 2 : 1;
    if (end >= j->end) die("a string of a request does not end");
    char *made = take((size_t)(end - j->at) + 1), *to = made;
    while (j->at < end) {
        char c = *j->at++, escaped = c == '\\' ? *j->at++ : 0;
        const char *meant = escaped ? strchr("b\bf\fn\nr\rt\t", escaped) : NULL;
        if (escaped != 'u') { *to++ = meant ? meant[1] : escaped ? escaped : c; continue; }
        unsigned code = digits(j, 4);
        if (code >> 10 == 0x36) j->at += 2, code = 0x10000 + ((code & 0x3ff) << 10) + (digits(j, 4) & 0x3ff);
        int rest = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes of UTF-8 after the first */
        *to++ = (char)(rest ? (0xff00 >> (rest + 1) & 0xff) | code >> 6 * rest : code);
        while (rest--) *to++ = (char)(0x80 | (code >> 6 * rest & 63));
    }
    j->at = end + 1;
    return made;
}

static char *field(json *j) { /* the next key of an object, NULL at its end */
    if (!more(j, '}')) return NULL;
    char *made = string(j);
    expect(j, ':');
    return made;
}
#define FIELDS(j) for (const char *name = (expect(j, '{'), field(j)); name; name = field(j))
#define ITEMS(j) for (expect(j, '['); more(j, ']');)
#define IS(word) (!strcmp(name, word))

static int number(json *j) {
    char *end;
    long long found = (peek(j), strtoll(j->at, &end, 10));
    if (end == j->at) die("a request has something else where a whole number is right");
    j->at = end;
    return found > INT32_MAX ? INT32_MAX : found < INT32_MIN ? INT32_MIN : (int)found;
}

static void skip(json *j) {
    if (peek(j) == '"') string(j);
    else if (peek(j) == '{') FIELDS(j) skip(j);
    else if (peek(j) == '[') ITEMS(j) skip(j);
    else while (j->at < j->end && !strchr(",]} \t\r\n", *j->at)) j->at++;
}

static int null(json *j) { return peek(j) == 'n' && (skip(j), 1); }
static int truth(json *j) { int yes = peek(j) == 't'; skip(j); return yes; }
static names strings(json *j) { names found = {0, 0}; ITEMS(j) PUSH(found.of, found.count, string(j)); return found; }
static group numbers(json *j) { group found = {0, 0}; ITEMS(j) PUSH(found.of, found.count, number(j)); return found; }
static group *lists(json *j, int *n) { group *found = NULL; ITEMS(j) PUSH(found, *n, numbers(j)); return found; }

/* Files: large cases, and their tensors as safetensors. */
static json file(const char *folder, const char *name) { /* the whole of a file of a large case */
    char path[4096], part[4096];
    text read = {0};
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    FILE *opened = fopen(path, "rb");
    if (!opened) die("the file of a large case cannot be opened");
    for (size_t got; (got = fread(part, 1, sizeof part, opened));) add(&read, part, got);
    fclose(opened);
    add(&read, "", 0);
    char *kept = memcpy(take(read.used + 1), read.text, read.used);
    free(read.text);
    return (json){kept, kept + read.used};
}

static unsigned char *tensor(json whole, const char *wanted, size_t *bytes) { /* of a safetensors file */
    uint64_t head = 0, room = (uint64_t)(whole.end - whole.at);
    for (int i = 0; i < 8 && room > 8; i++) head |= (uint64_t)(unsigned char)whole.at[i] << 8 * i;
    if (room < 8 || head > room - 8) die("a file of tensors is shorter than it says");
    json j = {whole.at + 8, whole.at + 8 + head};
    FIELDS(&j) {
        if (!IS(wanted)) { skip(&j); continue; }
        FIELDS(&j) {
            if (!IS("data_offsets")) { skip(&j); continue; }
            group at = numbers(&j);
            if (at.count != 2 || at.of[0] < 0 || at.of[1] < at.of[0] || (uint64_t)at.of[1] > room - 8 - head) break;
            *bytes = (size_t)(at.of[1] - at.of[0]);
            return memcpy(take(*bytes + 1), whole.at + 8 + head + at.of[0], *bytes);
        }
        break;
    }
    die("a tensor is not in its file");
    return NULL;
}

/* Cases. By conf_type: its name, and the bytes of an element. */
static const char *const DTYPES[] = {
    "bool", "int4", "int8", "int16", "int32", "int64", "uint4", "uint8", "uint16", "uint32", "uint64", "float8_e4m3fn",
    "float8_e5m2", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "other"};
static const unsigned char WIDTHS[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8, 8, 16, 1};

enum { MOST_AXES = 64 }; /* of a block: as many as NumPy has */

typedef struct { char *dtype; conf_type type; int axes; size_t shape[MOST_AXES]; unsigned char *data, *was; } block;
typedef struct { const char *name; int input; block *of; } value; /* of each rank; `data` is NULL where it has none */
typedef struct { /* `beyond`: it asks for what this file cannot hand over */
    char *op, *reduction;
    names inputs, outputs, axes;
    int grouped, groups, pairs, root, axis, split_axis, concat_axis, tiled, exclusive, beyond;
    group *group, *pair;
} step;
typedef struct { names mesh, results; int *sizes, world, steps, values, beyond; step *step; value *value; } program;

static void attributes(json *j, step *s) {
    FIELDS(j) {
        int *n = IS("root") ? &s->root : IS("axis") ? &s->axis : IS("split_axis") ? &s->split_axis : &s->concat_axis;
        if (null(j)) continue;
        if (n != &s->concat_axis || IS("concat_axis")) *n = number(j);
        else if (IS("op")) s->reduction = string(j);
        else if (IS("tiled")) s->tiled = truth(j);
        else if (IS("exclusive")) s->exclusive = truth(j);
        else if (IS("pairs")) s->pair = lists(j, &s->pairs);
        else if (IS("local_axes")) s->beyond |= numbers(j).count > 0;
        else skip(j), s->beyond = 1;
    }
}

static step one_step(json *j) {
    step s = {0};
    FIELDS(j) {
        if (IS("op")) s.op = string(j);
        else if (IS("inputs")) s.inputs = strings(j);
        else if (IS("outputs")) s.outputs = strings(j);
        else if (IS("axes")) s.axes = strings(j);
        else if (IS("groups")) { if ((s.grouped = !null(j))) s.group = lists(j, &s.groups); }
        else if (IS("attrs")) attributes(j, &s);
        else if (IS("into")) s.beyond |= strings(j).count > 0;
        else if (IS("start")) s.beyond |= truth(j);
        else if (!null(j)) skip(j), s.beyond = 1;
    }
    return s;
}

static size_t product(const size_t *extents, int count) {
    size_t all = 1;
    while (count-- > 0) all *= *extents++;
    return all;
}

static size_t elements(const block *b) { return product(b->shape, b->axes); }

static block one_block(json *j, const char *folder, const char *of, int rank) {
    block b = {0};
    size_t bytes = 0;
    char where[300];
    FIELDS(j) {
        if (IS("dtype")) b.dtype = string(j);
        else if (IS("shape")) {
            group shape = numbers(j);
            if (shape.count > MOST_AXES) die("a block has more axes than there is room for");
            for (; b.axes < shape.count; b.axes++) b.shape[b.axes] = (size_t)shape.of[b.axes];
        } else if (null(j)) continue;
        else if (IS("bits")) {
            json bits = {string(j), NULL};
            bits.end = bits.at + strlen(bits.at);
            for (b.data = take((size_t)(bits.end - bits.at) / 2 + 1); bits.at < bits.end; bytes++)
                b.data[bytes] = (unsigned char)digits(&bits, 2);
        } else {
            snprintf(where, sizeof where, "%s/%d", of, rank);
            b.data = tensor(file(folder, string(j)), where, &bytes);
        }
    }
    for (b.type = CONF_BOOL; b.type < CONF_OTHER && strcmp(b.dtype, DTYPES[b.type]);) b.type++;
    if (!b.data || bytes != elements(&b) * WIDTHS[b.type]) die("a block has not the bits that its shape asks for");
    b.was = memcpy(take(bytes + 1), b.data, bytes);
    return b;
}

static void read_program(json *j, program *p) {
    FIELDS(j) {
        if (IS("steps")) ITEMS(j) PUSH(p->step, p->steps, one_step(j));
        else if (IS("results")) p->results = strings(j);
        else if (!IS("mesh")) skip(j);
        else ITEMS(j) {
            p->sizes = grown(p->sizes, p->mesh.count, sizeof *p->sizes);
            p->mesh.of = grown(p->mesh.of, p->mesh.count, sizeof *p->mesh.of);
            FIELDS(j) if (IS("size")) p->sizes[p->mesh.count] = number(j); else p->mesh.of[p->mesh.count] = string(j);
            p->mesh.count++;
        }
    }
    for (int i = p->world = 1; i <= p->mesh.count; i++) p->world *= p->sizes[i - 1];
}

static block *new_value(program *p, const char *name, int input) {
    value made = {name, input, take((size_t)p->world * sizeof(block))};
    PUSH(p->value, p->values, made);
    return made.of;
}

static block *find(program *p, const char *name) { /* the blocks of the value that has the name */
    for (int i = p->values - 1; i >= 0; i--)
        if (!strcmp(p->value[i].name, name)) return p->value[i].of;
    return NULL;
}

static program read_case(json j, const char *folder) {
    program p = {0};
    json inputs = {0};
    FIELDS(&j) {
        if (IS("program")) read_program(&j, &p);
        else if (IS("faults")) ITEMS(&j) skip(&j), p.beyond = 1;
        else { if (IS("inputs")) inputs = j; skip(&j); }
    }
    if (inputs.at) FIELDS(&inputs) {
        block *blocks = new_value(&p, name, 1);
        const char *of = name;
        int rank = 0;
        FIELDS(&inputs) {
            if (!IS("blocks")) skip(&inputs);
            else ITEMS(&inputs)
                if (rank < p.world) blocks[rank] = one_block(&inputs, folder, of, rank), rank++;
                else skip(&inputs);
        }
    }
    return p;
}

#endif
