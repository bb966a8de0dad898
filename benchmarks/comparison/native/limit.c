// What the kernel and the load generator allow at all: one epoll thread for each core that looks for the end of a
// head and for the length in its path, and answers with bytes made beforehand. It is no HTTP server: no cache, no
// head made for the request, no timeout. Bodies of 64 KiB and more go by sendfile, which spares the copy.
//   limit PORT THREADS
#define _GNU_SOURCE
#include "http.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define SENDFILE_FROM 65536
#define ANSWERS 32

struct answer {
    size_t body_length;
    int closing;
    size_t length;
    char *bytes;
    int file;  // -1 when the bytes are in memory
};

struct connection {
    int fd, closing;
    const struct answer *answer;
    off_t sent;  // of the answer; all of it when there is nothing to send
    size_t received;
    char in[4096];
};

struct loop {
    int epoll, answer_count;
    struct answer answers[ANSWERS];
};

static int port;

static struct answer make_answer(size_t body_length, int closing) {
    struct answer a = {.body_length = body_length, .closing = closing, .file = -1};
    a.bytes = malloc(body_length + 256);
    size_t head = sprintf(a.bytes,
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %zu\r\n"
            "Cache-Control: max-age=86400\r\nConnection: %s\r\n\r\n",
            body_length, closing ? "close" : "keep-alive");
    for (size_t i = 0; i < body_length; i++) a.bytes[head + i] = body_byte(i);
    a.length = head + body_length;
    if (body_length >= SENDFILE_FROM) {
        a.file = memfd_create("answer", MFD_CLOEXEC);
        for (size_t at = 0; at < a.length;) {
            ssize_t n = write(a.file, a.bytes + at, a.length - at);
            if (n <= 0) exit(1);
            at += n;
        }
        free(a.bytes);
        a.bytes = 0;
    }
    return a;
}

// The path is /n/KEY, which has 5 KiB, or /anything/LENGTH with more behind it.
static const struct answer *answer_for(struct loop *loop, const char *path, int closing) {
    const char *second = path[0] ? strchr(path + 1, '/') : 0;
    size_t length = !strncmp(path, "/n/", 3) ? 5120 : second ? strtoul(second + 1, 0, 10) : 0;
    for (int i = 0; i < loop->answer_count; i++)
        if (loop->answers[i].body_length == length && loop->answers[i].closing == closing) return &loop->answers[i];
    if (loop->answer_count == ANSWERS) {
        fprintf(stderr, "limit: more than %d kinds of answer\n", ANSWERS);
        exit(1);
    }
    loop->answers[loop->answer_count] = make_answer(length, closing);
    return &loop->answers[loop->answer_count++];
}

static void drop(struct connection *c) {
    close(c->fd);
    free(c);
}

static void await(struct loop *loop, struct connection *c, int operation, unsigned events) {
    struct epoll_event e = {.events = events, .data.ptr = c};
    epoll_ctl(loop->epoll, operation, c->fd, &e);
}

// 1: all sent, 0: the socket is full, -1: the connection is gone.
static int send_answer(struct loop *loop, struct connection *c) {
    const struct answer *a = c->answer;
    while (c->sent < (off_t) a->length) {
        ssize_t n = a->file >= 0 ? sendfile(c->fd, a->file, &c->sent, a->length - c->sent)
                                 : send(c->fd, a->bytes + c->sent, a->length - c->sent, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN) {
                await(loop, c, EPOLL_CTL_MOD, EPOLLOUT);
                return 0;
            }
            drop(c);
            return -1;
        }
        if (a->file < 0) c->sent += n;
    }
    c->answer = 0;
    if (!c->closing) return 1;
    drop(c);
    return -1;
}

static void serve(struct loop *loop, struct connection *c) {
    for (;;) {
        char *end = memmem(c->in, c->received, "\r\n\r\n", 4);
        if (!end) {
            if (c->received == sizeof c->in) drop(c);
            return;
        }
        *end = 0;
        size_t used = end + 4 - c->in;
        char *path = strchr(c->in, ' ');
        c->closing = asks_to_close(c->in);
        c->answer = answer_for(loop, path ? path + 1 : "/", c->closing);
        c->sent = 0;
        c->received -= used;
        memmove(c->in, c->in + used, c->received);
        if (send_answer(loop, c) <= 0 || !c->received) return;
    }
}

static void accept_all(struct loop *loop, int listener) {
    int fd, one = 1;
    while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct connection *c = malloc(sizeof *c);
        c->fd = fd;
        c->answer = 0;
        c->received = 0;
        await(loop, c, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static void ready(struct loop *loop, struct connection *c) {
    if (c->answer) {
        if (send_answer(loop, c) <= 0) return;
        await(loop, c, EPOLL_CTL_MOD, EPOLLIN);
        if (c->received) serve(loop, c);
        return;
    }
    ssize_t n = recv(c->fd, c->in + c->received, sizeof c->in - c->received, 0);
    if (n > 0) {
        c->received += n;
        serve(loop, c);
    } else if (n == 0 || errno != EAGAIN) {
        drop(c);
    }
}

__attribute__((noreturn)) static void *run(void *unused) {
    (void) unused;
    struct loop *loop = calloc(1, sizeof *loop);
    struct epoll_event events[256], e = {.events = EPOLLIN};
    int listener = listen_on(port);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(loop->epoll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int n = epoll_wait(loop->epoll, events, 256, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr) ready(loop, events[i].data.ptr);
            else accept_all(loop, listener);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    pthread_t thread;
    port = atoi(argv[1]);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 1; i < atoi(argv[2]); i++) pthread_create(&thread, 0, run, 0);
    run(0);
}
