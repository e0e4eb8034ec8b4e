/* Mesh Conformance for implementations in C: you write functions shaped like NCCL's, conformance.c speaks the worker
 * protocol (docs/worker-protocol.md) and calls them. C99 and POSIX, and no other dependency. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stddef.h>

/* What a function returns. All but CONF_OK refuse the call; conf_fail says why, in words. */
enum {
    CONF_OK = 0,
    CONF_INVALID = 1,     /* an argument is wrong */
    CONF_UNSUPPORTED = 2, /* the implementation lacks it; legal only outside its claims */
    CONF_INTERNAL = 3     /* anything else went wrong; other numbers mean the same */
};

typedef enum {
    CONF_BOOL, CONF_INT4, CONF_INT8, CONF_INT16, CONF_INT32, CONF_INT64, CONF_UINT4, CONF_UINT8, CONF_UINT16,
    CONF_UINT32, CONF_UINT64, CONF_FLOAT8_E4M3FN, CONF_FLOAT8_E5M2, CONF_FLOAT16, CONF_BFLOAT16, CONF_FLOAT32,
    CONF_FLOAT64, CONF_COMPLEX64, CONF_COMPLEX128,
    CONF_OTHER /* a type of one byte that has no name here */
} conf_type;

typedef enum {
    CONF_SUM, CONF_PRODUCT, CONF_MAX, CONF_MIN, CONF_AND, CONF_OR, CONF_XOR, CONF_MEAN,
    CONF_NO_OP /* the name of no reduction above */
} conf_op;

/* A group of ranks as one of them sees it. `user` is yours, from comm_init to comm_free. */
typedef struct conf_comm {
    int rank, size;        /* the position of the caller in its group, and how many there are */
    const int *members;    /* the ranks of the world at positions 0 to size - 1 */
    int group;             /* the number of the group among those that meet in the step; -1: the caller is in none */
    int world_rank, world; /* the caller among all, and how many ranks the case has */
    void *user;
} conf_comm;

/* A limit: the operations (with commas, or "*" for all that have a function), the feature, and its words, with commas.
 * docs/vendors-guide.md has the table of features. Give each operation and feature once; where conformance.c limits a
 * feature for you (layout, axes, ranks, calls, world, op, ...), your words go before. */
typedef struct {
    const char *operations, *feature, *words;
} conf_claim;

/* Blocks are contiguous; `count` is in elements. Each function is called once for each rank that this process stands
 * for, between group_start and group_end, as in NCCL: where one process stands for all ranks, compute in group_end. A
 * function that is NULL claims nothing. `root` is as the case has it, wrong ones too. Where a block is cut or joined
 * along another axis than the first, conformance.c turns it before and after. `recv` is NULL for a member that receives
 * nothing; `to` and `from` are -1 where a member sends nothing, or receives nothing. */
typedef struct {
    const char *name;
    const conf_claim *claims;   /* the last entry is {0, 0, 0} */
    const char *guarantees;     /* with commas, or NULL */
    const char *follows;        /* sources whose divergences are yours, with commas, or NULL; `conformance spec CLAUSE` */
    const char *number_model;   /* JSON, or NULL; docs/numerics.md */
    void (*describe)(void (*say)(const char *key, const char *value)); /* versions, devices, flags */
    int (*group_start)(void);
    int (*group_end)(void);
    int (*comm_init)(conf_comm *comm); /* before a group is used; groups are kept for later cases */
    void (*comm_free)(conf_comm *comm);
    int (*all_reduce)(const void *send, void *recv, size_t count, conf_type type, conf_op op, conf_comm *comm);
    int (*reduce)(const void *send, void *recv, size_t count, conf_type type, conf_op op, int root, conf_comm *comm);
    int (*scan)(const void *send, void *recv, size_t count, conf_type type, conf_op op, int exclusive, conf_comm *comm);
    int (*broadcast)(const void *send, void *recv, size_t count, conf_type type, int root, conf_comm *comm);
    int (*all_gather)(const void *send, void *recv, size_t sendcount, conf_type type, conf_comm *comm);
    int (*gather)(const void *send, void *recv, size_t sendcount, conf_type type, int root, conf_comm *comm);
    int (*scatter)(const void *send, void *recv, size_t recvcount, conf_type type, int root, conf_comm *comm);
    int (*reduce_scatter)(const void *send, void *recv, size_t recvcount, conf_type type, conf_op op, conf_comm *comm);
    int (*all_to_all)(const void *send, void *recv, size_t count, conf_type type, conf_comm *comm); /* count a peer */
    int (*permute)(const void *send, void *recv, size_t count, conf_type type, int to, int from, conf_comm *comm);
    int (*barrier)(conf_comm *comm);
} conf_backend;

/* Where each rank is a process of its own (`size` of them): how bytes go from one to another. Rank 0 speaks to the
 * runner, on the descriptors `in` and `out`; large cases are in the folder `files`. Cases have at most `size` ranks. */
typedef struct {
    int rank, size, in, out;
    const char *files;
    void (*send)(const void *bytes, size_t count, int to);
    void (*recv)(void *bytes, size_t count, int from);
    int (*worst)(int status); /* the greatest of the statuses of all processes, on each of them */
} conf_ranks;

int conf_serve(const conf_backend *backend);                              /* one process stands for all ranks */
int conf_serve_ranks(const conf_backend *backend, const conf_ranks *ranks); /* each rank is a process */
int conf_fail(int status, const char *format, ...); /* return `status`, and say why */
size_t conf_size(conf_type type);                   /* bytes of an element */
const char *conf_name(conf_type type);

#endif
