package io.millrace.proxy.admin;

import java.time.Duration;

/**
 * Time limits of clients of the admin API. Immutable.
 *
 * @param request time to receive a request, from its first to its last byte
 * @param unauthenticated time to receive a request without a valid token on TCP; for the first request of a connection,
 *     it begins when the connection is opened
 * @param wrongToken delay of the answer to a wrong token
 */
record AdminTimes(Duration request, Duration unauthenticated, Duration wrongToken) {
    /** The limits in production. */
    static AdminTimes standard() {
        return new AdminTimes(
                Duration.ofSeconds(AdminPipeline.REQUEST_SECONDS),
                Duration.ofSeconds(AdminPipeline.UNAUTHENTICATED_SECONDS),
                Duration.ofSeconds(AdminPipeline.WRONG_TOKEN_SECONDS));
    }
}
