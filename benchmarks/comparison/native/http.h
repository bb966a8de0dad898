// What the origin and the limit have in common: the bytes of a body, a listening socket, and what a request says
// of its connection.
#ifndef HTTP_H
#define HTTP_H
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define BODY_PERIOD (1 << 20)

// The byte at an offset of any body: every server answers with the same ones, so that a check can tell.
static inline char body_byte(size_t offset) {
    size_t at = offset % BODY_PERIOD;
    return (char) ('a' + (at * 7 + at / 61) % 26);
}

// A listening socket of its own for each thread; the kernel spreads the connections.
static inline int listen_on(int port) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (bind(fd, (struct sockaddr *) &address, sizeof address) || listen(fd, 4096)) {
        perror("listen");
        exit(1);
    }
    return fd;
}

// Whether the connection ends after the answer. The head is NUL-terminated before its empty line.
static inline int asks_to_close(const char *head) {
    const char *line_end = strchr(head, '\r');
    int http10 = (line_end ? line_end : head + strlen(head))[-1] == '0';
    const char *field = strcasestr(head, "\nConnection: ");
    int word = field ? field[13] | 32 : 0;
    return word == 'c' || (http10 && word != 'k');
}
#endif
