// The origin behind every server. GET and HEAD, HTTP/1.1, one epoll thread for each argument.
//   /s/LENGTH[/KEY]              may be cached for a day
//   /n/KEY                       the same, 5 KiB
//   /nostore/LENGTH[/KEY]        Cache-Control: no-store
//   /slow/MS/LENGTH/KEY          may be cached, answered after MS milliseconds
//   /requests                    how many requests there were besides those for this path
// The entity-tag is the path, so that a check can tell whose answer it got; If-None-Match with it is answered 304.
//   origin PORT THREADS
#define _GNU_SOURCE
#include "http.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PATH_MAX_LENGTH 200

struct connection {
    int fd, closing, events;
    int64_t due_ms;  // the answer waits until then; 0 when it does not wait
    struct connection *next_waiting;
    size_t head_length, head_sent, body_length, body_sent, received;
    char head[1024], in[16384];
};

struct answer {
    int status, cacheable, delay_ms;
    size_t length;
    char text[32];  // the body, when it is not made of body_byte
};

struct loop {
    int epoll;
    struct connection *waiting;
    time_t date_second;
    char date[40];
};

static char body[BODY_PERIOD];
static int port;
static atomic_long requests;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void drop(struct connection *c) {
    close(c->fd);
    free(c);
}

// What to wait for on the socket; 0 takes it out, so that a client who leaves meanwhile does not wake the loop.
static void await(struct loop *loop, struct connection *c, int events) {
    if (events == c->events) return;
    struct epoll_event e = {.events = events, .data.ptr = c};
    epoll_ctl(loop->epoll, !events ? EPOLL_CTL_DEL : c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &e);
    c->events = events;
}

static struct answer answer_for(const char *path) {
    struct answer a = {.status = 200, .cacheable = 1};
    char *end;
    if (!strncmp(path, "/s/", 3)) {
        a.length = strtoull(path + 3, 0, 10);
    } else if (!strncmp(path, "/n/", 3)) {
        a.length = 5120;
    } else if (!strncmp(path, "/nostore/", 9)) {
        a.length = strtoull(path + 9, 0, 10);
        a.cacheable = 0;
    } else if (!strncmp(path, "/slow/", 6)) {
        a.delay_ms = strtol(path + 6, &end, 10);
        a.length = *end ? strtoull(end + 1, 0, 10) : 0;
    } else if (!strcmp(path, "/requests")) {
        a.cacheable = 0;
        a.length = sprintf(a.text, "%ld\n", atomic_load(&requests));
        return a;
    } else {
        a.status = 404;
        a.cacheable = 0;
    }
    atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
    return a;
}

static const char *date(struct loop *loop) {
    time_t now = time(0);
    if (now != loop->date_second) {
        struct tm utc;
        gmtime_r(&now, &utc);
        strftime(loop->date, sizeof loop->date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
        loop->date_second = now;
    }
    return loop->date;
}

// Makes the answer to the head in c->in, which is NUL-terminated. Returns 0 when there is no sense in it.
static int prepare(struct loop *loop, struct connection *c) {
    char path[PATH_MAX_LENGTH + 1], etag[PATH_MAX_LENGTH + 3];
    char *from = strchr(c->in, ' '), *to = from ? strchr(from + 1, ' ') : 0;
    if (!to || to - from - 1 > PATH_MAX_LENGTH) return 0;
    sprintf(path, "%.*s", (int) (to - from - 1), from + 1);
    sprintf(etag, "\"%s\"", path);
    int head_only = !strncmp(c->in, "HEAD ", 5);
    c->closing = asks_to_close(c->in);
    struct answer a = answer_for(path);
    const char *condition = strcasestr(c->in, "\nIf-None-Match: ");
    if (condition && a.status == 200 && !strncmp(condition + 16, etag, strlen(etag))) a.status = 304;
    char length[64] = "";
    if (a.status != 304) sprintf(length, "Content-Length: %zu\r\n", a.length);
    c->head_length = sprintf(c->head,
            "HTTP/1.1 %s\r\nDate: %s\r\nServer: o\r\nContent-Type: application/octet-stream\r\n%s"
            "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nETag: %s\r\nCache-Control: %s\r\nConnection: %s\r\n\r\n%s",
            a.status == 200 ? "200 OK" : a.status == 304 ? "304 Not Modified" : "404 Not Found", date(loop), length,
            etag, a.cacheable ? "max-age=86400" : "no-store", c->closing ? "close" : "keep-alive",
            head_only ? "" : a.text);
    c->head_sent = c->body_sent = 0;
    c->body_length = head_only || a.status == 304 || *a.text ? 0 : a.length;
    c->due_ms = a.delay_ms ? now_ms() + a.delay_ms : 0;
    return 1;
}

// 1: all sent, 0: the socket is full, -1: the connection is gone.
static int send_answer(struct loop *loop, struct connection *c) {
    while (c->head_sent < c->head_length || c->body_sent < c->body_length) {
        struct iovec parts[2];
        struct msghdr message = {.msg_iov = parts};
        if (c->head_sent < c->head_length)
            parts[message.msg_iovlen++] = (struct iovec) {c->head + c->head_sent, c->head_length - c->head_sent};
        if (c->body_sent < c->body_length) {
            size_t at = c->body_sent % BODY_PERIOD, left = c->body_length - c->body_sent;
            parts[message.msg_iovlen++] =
                    (struct iovec) {body + at, left < BODY_PERIOD - at ? left : BODY_PERIOD - at};
        }
        ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN) {
                await(loop, c, EPOLLOUT);
                return 0;
            }
            drop(c);
            return -1;
        }
        size_t of_head = c->head_length - c->head_sent;
        if (of_head > (size_t) n) of_head = n;
        c->head_sent += of_head;
        c->body_sent += n - of_head;
    }
    c->head_length = c->head_sent = 0;
    if (!c->closing) return 1;
    drop(c);
    return -1;
}

// Answers what has been received, until more is needed, the socket is full, or an answer has to wait.
static void serve(struct loop *loop, struct connection *c) {
    for (;;) {
        char *end = memmem(c->in, c->received, "\r\n\r\n", 4);
        if (!end) {
            if (c->received == sizeof c->in) drop(c);
            else await(loop, c, EPOLLIN);
            return;
        }
        *end = 0;
        size_t used = end + 4 - c->in;
        if (!prepare(loop, c)) {
            drop(c);
            return;
        }
        c->received -= used;
        memmove(c->in, c->in + used, c->received);
        if (c->due_ms) {
            await(loop, c, 0);
            c->next_waiting = loop->waiting;
            loop->waiting = c;
            return;
        }
        if (send_answer(loop, c) <= 0) return;
    }
}

static void accept_all(struct loop *loop, int listener) {
    int fd, one = 1;
    while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct connection *c = calloc(1, sizeof *c);
        c->fd = fd;
        await(loop, c, EPOLLIN);
    }
}

static void ready(struct loop *loop, struct connection *c) {
    if (c->head_length) {
        if (send_answer(loop, c) > 0) serve(loop, c);
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

static void answer_those_due(struct loop *loop) {
    int64_t now = now_ms();
    struct connection *all = loop->waiting, *next;
    loop->waiting = 0;
    for (struct connection *c = all; c; c = next) {
        next = c->next_waiting;
        if (c->due_ms > now) {
            c->next_waiting = loop->waiting;
            loop->waiting = c;
            continue;
        }
        c->due_ms = 0;
        if (send_answer(loop, c) > 0) serve(loop, c);
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
        int n = epoll_wait(loop->epoll, events, 256, loop->waiting ? 1 : -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr) ready(loop, events[i].data.ptr);
            else accept_all(loop, listener);
        }
        if (loop->waiting) answer_those_due(loop);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    pthread_t thread;
    port = atoi(argv[1]);
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < BODY_PERIOD; i++) body[i] = body_byte(i);
    for (int i = 1; i < atoi(argv[2]); i++) pthread_create(&thread, 0, run, 0);
    run(0);
}
