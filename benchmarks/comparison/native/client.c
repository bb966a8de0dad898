// What the known load generators cannot do. Bodies are thrown away in the kernel (MSG_TRUNC).
//   client get  PORT PATH CONNECTIONS SECONDS   the same object again and again; prints
//                                               "bytes N seconds S done N bad N"
//   client fill PORT PREFIX COUNT CONNECTIONS   PREFIX0 to PREFIX(COUNT-1), each once; prints "done N bad N"
//   client herd PORT PATH COUNT LENGTH          COUNT connections that ask at the same moment; prints
//                                               "done N bad N p50_us N p99_us N last_us N"
//   client constant PORT PATH CONNECTIONS SECONDS RATE NEW_EVERY TAG
//                                               RATE requests per second, one in NEW_EVERY (0: none) for
//                                               PATH/TAG.number instead of PATH; prints "done N bad N rate_s N p50_us N
//                                               p99_us N p999_us N max_us N late_us N". A latency counts from the moment
//                                               at which the request was due, so a server that stalls delays all requests
//                                               that become due meanwhile. late_us is the delay of the client itself: the
//                                               99.9th percentile of the time from that moment until the client found a
//                                               free connection or saw that there was none.
//   client idle PORT PATH COUNT                 one request on each of COUNT connections, then holds them; prints
//                                               "ready N bad N" and, at the end of its input, "alive N"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define UNTIL_CLOSE INT64_MAX

enum step { MORE, DONE, BAD };

struct connection {
    int fd, in_body;
    size_t head_length;
    int64_t body_left, body_received;
    double done_at;
    long number;
    int busy, repeated;
    char head[4096];
};

static int port;
static uint64_t bytes_received;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

// Connects; with spread_over from several addresses of this machine, since one has too few ports for all.
static int dial(int spread_over) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (spread_over >= 0) {
        struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002 + spread_over % 8)};
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        bind(fd, (struct sockaddr *) &from, sizeof from);
    }
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *) &to, sizeof to)) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static int ask(struct connection *c, const char *path, const char *fields) {
    char request[1024];
    int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path, port, fields);
    c->in_body = 0;
    c->head_length = 0;
    c->body_received = 0;
    return send(c->fd, request, n, MSG_NOSIGNAL) == n;
}

static void watch(int epoll, struct connection *c) {
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e);
}

// Looks for the end of the head, and in it for the status and the length of the body.
static enum step parse_head(struct connection *c) {
    char *end = memmem(c->head, c->head_length, "\r\n\r\n", 4);
    if (!end) return c->head_length == sizeof c->head ? BAD : MORE;
    *end = 0;
    if (c->head_length < 12 || memcmp(c->head + 9, "200", 3)) return BAD;
    char *field = strcasestr(c->head, "\nContent-Length:");
    int64_t surplus = c->head + c->head_length - (end + 4);
    c->in_body = 1;
    c->body_received = surplus;
    c->body_left = field ? strtoll(field + 16, 0, 10) - surplus : UNTIL_CLOSE;
    return c->body_left == 0 ? DONE : MORE;
}

// Reads once.
static enum step receive(struct connection *c, int flags) {
    ssize_t n;
    if (c->in_body) {
        n = recv(c->fd, 0, c->body_left < 1 << 22 ? c->body_left : 1 << 22, MSG_TRUNC | flags);
    } else {
        n = recv(c->fd, c->head + c->head_length, sizeof c->head - c->head_length, flags);
    }
    if (n < 0) return errno == EAGAIN ? MORE : BAD;
    if (n == 0) return c->in_body && c->body_left == UNTIL_CLOSE ? DONE : BAD;
    bytes_received += n;
    if (!c->in_body) {
        c->head_length += n;
        return parse_head(c);
    }
    c->body_received += n;
    if (c->body_left != UNTIL_CLOSE) c->body_left -= n;
    return c->body_left == 0 ? DONE : MORE;
}

static int get(const char *path, int count, double seconds) {
    struct connection *all = calloc(count, sizeof *all);
    struct epoll_event events[256];
    int epoll = epoll_create1(0);
    long done = 0, bad = 0;
    for (int i = 0; i < count; i++) {
        all[i].fd = dial(-1);
        if (all[i].fd < 0 || !ask(&all[i], path, "")) return 1;
        watch(epoll, &all[i]);
    }
    double start = now();
    while (now() < start + seconds) {
        int n = epoll_wait(epoll, events, 256, 100);
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            enum step step = receive(c, MSG_DONTWAIT);
            if (step == DONE) done++;
            if (step == MORE || (step == DONE && ask(c, path, ""))) continue;
            bad++;
            close(c->fd);
            c->fd = dial(-1);
            if (c->fd < 0 || !ask(c, path, "")) return 1;
            watch(epoll, c);
        }
    }
    printf("bytes %lu seconds %.3f done %ld bad %ld\n", bytes_received, now() - start, done, bad);
    return 0;
}

// Asks for the next key on this connection; 0 when all have been asked for.
static int ask_next(struct connection *c, const char *prefix, int *next, int count) {
    char path[256];
    if (*next == count) return 0;
    snprintf(path, sizeof path, "%s%d", prefix, (*next)++);
    return ask(c, path, "");
}

static int fill(const char *prefix, int count, int connections) {
    struct connection *all = calloc(connections, sizeof *all);
    struct epoll_event events[256];
    int epoll = epoll_create1(0), next = 0, open = 0;
    long done = 0, bad = 0;
    for (int i = 0; i < connections && next < count; i++) {
        all[i].fd = dial(-1);
        if (all[i].fd < 0 || !ask_next(&all[i], prefix, &next, count)) return 1;
        watch(epoll, &all[i]);
        open++;
    }
    while (open) {
        int n = epoll_wait(epoll, events, 256, 30000);
        if (n == 0) break;
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            enum step step = receive(c, MSG_DONTWAIT);
            if (step == MORE) continue;
            if (step == DONE) done++;
            if (step == DONE && ask_next(c, prefix, &next, count)) continue;
            close(c->fd);
            open--;
            if (step == DONE) continue;
            bad++;
            c->fd = dial(-1);
            if (c->fd < 0 || !ask_next(c, prefix, &next, count)) continue;
            watch(epoll, c);
            open++;
        }
    }
    printf("done %ld bad %ld\n", done, bad);
    return 0;
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static int herd(const char *path, int count, int64_t length) {
    struct connection *all = calloc(count, sizeof *all);
    double *took = calloc(count, sizeof *took);
    struct epoll_event events[256];
    int epoll = epoll_create1(0), open = 0;
    long done = 0, bad = 0;
    for (int i = 0; i < count; i++) {
        all[i].fd = dial(-1);
        if (all[i].fd < 0) return 1;
        watch(epoll, &all[i]);
        open++;
    }
    double start = now();
    for (int i = 0; i < count; i++) ask(&all[i], path, "Connection: close\r\n");
    while (open && now() < start + 60) {
        int n = epoll_wait(epoll, events, 256, 1000);
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            enum step step = receive(c, MSG_DONTWAIT);
            if (step == MORE) continue;
            if (step == DONE && c->body_received >= length) took[done++] = now() - start;
            else bad++;
            close(c->fd);
            open--;
        }
    }
    if (!done) return 1;
    qsort(took, done, sizeof *took, by_number);
    printf("done %ld bad %ld p50_us %.0f p99_us %.0f last_us %.0f\n", done, bad + open, took[done / 2] * 1e6,
            took[(long) (done * .99)] * 1e6, took[done - 1] * 1e6);
    return 0;
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *) a, y = *(const float *) b;
    return x < y ? -1 : x > y;
}

static float percentile(float *sorted, long count, double share) {
    return count ? sorted[(long) ((count - 1) * share)] : 0;
}

struct constant {
    const char *path, *tag;
    int new_every, epoll, free_count;
    struct connection **free_ones;
    long done, bad;
    float *took;
};

// Sends the request of this connection.
static int ask_constant(struct constant *k, struct connection *c) {
    char path[512];
    if (k->new_every && c->number % k->new_every == 0) {
        snprintf(path, sizeof path, "%s/%s.%ld", k->path, k->tag, c->number);
    } else {
        snprintf(path, sizeof path, "%s", k->path);
    }
    return ask(c, path, "");
}

// Replaces a connection that the server has closed. A request without any byte of an answer is sent once more, as
// browsers do (RFC 9110, section 9.2.2).
static void connect_again(struct constant *k, struct connection *c) {
    int again = c->busy && !c->repeated && !c->head_length;
    close(c->fd);
    c->fd = dial(-1);
    if (c->fd >= 0) watch(k->epoll, c);
    if (again && c->fd >= 0) {
        c->repeated = 1;
        if (ask_constant(k, c)) return;
    }
    if (!c->busy) return;
    k->bad++;
    c->busy = 0;
    k->free_ones[k->free_count++] = c;
}

// Sends the request with this number on a free connection; its latency counts from due.
static void send_due(struct constant *k, long number, double due) {
    struct connection *c = k->free_ones[--k->free_count];
    c->number = number;
    c->done_at = due;
    c->busy = 1;
    c->repeated = 0;
    if (!ask_constant(k, c)) connect_again(k, c);
}

static void receive_answers(struct constant *k, double timeout) {
    struct epoll_event events[256];
    struct timespec wait = {.tv_sec = 0, .tv_nsec = timeout > 0 ? timeout * 1e9 : 0};
    int n = epoll_pwait2(k->epoll, events, 256, &wait, 0);
    for (int i = 0; i < n; i++) {
        struct connection *c = events[i].data.ptr;
        enum step step = receive(c, MSG_DONTWAIT);
        if (step == MORE) continue;
        if (step == DONE && c->busy) {
            k->took[k->done++] = (now() - c->done_at) * 1e6;
            c->busy = 0;
            k->free_ones[k->free_count++] = c;
        } else {
            connect_again(k, c);
        }
    }
}

static int constant(int connections, double seconds, double rate, struct constant *k) {
    struct connection *all = calloc(connections, sizeof *all);
    long due_count = seconds * rate, sent = 0, seen = 0;
    float *late = calloc(due_count + 1, sizeof *late);
    k->epoll = epoll_create1(0);
    k->free_ones = calloc(connections, sizeof *k->free_ones);
    k->took = calloc(due_count + 1, sizeof *k->took);
    for (int i = 0; i < connections; i++) {
        all[i].fd = dial(-1);
        if (all[i].fd < 0) return 1;
        watch(k->epoll, &all[i]);
        k->free_ones[k->free_count++] = &all[i];
    }
    double start = now(), last = start;
    while (k->done + k->bad < due_count && now() < start + seconds + 10) {
        double at = now();
        for (; seen < due_count && start + seen / rate <= at; seen++) late[seen] = (at - start - seen / rate) * 1e6;
        for (; sent < seen && k->free_count; sent++) send_due(k, sent, start + sent / rate);
        double next = seen < due_count ? start + seen / rate - now() : 0.01;
        long before = k->done;
        receive_answers(k, next < 0.01 ? next : 0.01);
        if (k->done > before) last = now();
    }
    long unanswered = due_count - k->done - k->bad;
    qsort(k->took, k->done, sizeof *k->took, by_size);
    qsort(late, seen, sizeof *late, by_size);
    printf("done %ld bad %ld rate_s %.1f p50_us %.0f p99_us %.0f p999_us %.0f max_us %.0f late_us %.0f\n", k->done,
            k->bad + unanswered, k->done / (last - start), percentile(k->took, k->done, .5),
            percentile(k->took, k->done, .99), percentile(k->took, k->done, .999), percentile(k->took, k->done, 1),
            percentile(late, seen, .999));
    return 0;
}

// Opens the connections, some at a time, each with one request. Returns how many had an answer; the others have no fd.
static int open_idle(struct connection *all, const char *path, int count) {
    struct epoll_event events[256];
    int epoll = epoll_create1(0), next = 0, asking = 0, ready = 0;
    while (next < count || asking) {
        for (; asking < 64 && next < count; next++) {
            struct connection *c = &all[next];
            c->fd = dial(next);
            if (c->fd < 0 || !ask(c, path, "")) continue;
            watch(epoll, c);
            asking++;
        }
        int n = epoll_wait(epoll, events, 256, 30000);
        if (n == 0) break;
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            enum step step = receive(c, MSG_DONTWAIT);
            if (step == MORE) continue;
            epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, 0);
            asking--;
            if (step == DONE) {
                ready++;
            } else {
                close(c->fd);
                c->fd = -1;
            }
        }
    }
    return ready;
}

static int idle(const char *path, int count) {
    struct connection *all = calloc(count, sizeof *all);
    int ready = open_idle(all, path, count), alive = 0;
    printf("ready %d bad %d\n", ready, count - ready);
    while (getchar() != EOF) {}
    for (int i = 0; i < count; i++) {
        struct pollfd p = {.fd = all[i].fd, .events = POLLIN | POLLRDHUP};
        if (all[i].fd >= 0 && poll(&p, 1, 0) == 0) alive++;
    }
    printf("alive %d\n", alive);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    const char *mode = argv[1], *path = argv[3];
    int count = atoi(argv[4]);
    port = atoi(argv[2]);
    setvbuf(stdout, 0, _IOLBF, 0);
    if (!strcmp(mode, "idle")) return idle(path, count);
    if (argc < 6) return 2;
    if (!strcmp(mode, "get")) return get(path, count, atof(argv[5]));
    if (!strcmp(mode, "fill")) return fill(path, count, atoi(argv[5]));
    if (!strcmp(mode, "herd")) return herd(path, count, atoll(argv[5]));
    if (!strcmp(mode, "constant") && argc >= 9) {
        struct constant k = {.path = path, .new_every = atoi(argv[7]), .tag = argv[8]};
        return constant(count, atof(argv[5]), atof(argv[6]), &k);
    }
    return 2;
}
