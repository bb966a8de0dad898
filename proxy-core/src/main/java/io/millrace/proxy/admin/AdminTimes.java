package io.millrace.proxy.admin;

import java.time.Duration;

/**
 * How long clients of the admin API may take, and have to wait. Immutable.
 *
 * @param request from the first byte of a request to its last
 * @param unproven the same on TCP without a token; for the first request from the connection's start
 * @param wrongToken until a wrong token is answered
 */
record AdminTimes(Duration request, Duration unproven, Duration wrongToken) {
    /** Those of the product. */
    static AdminTimes standard() {
        return new AdminTimes(
                Duration.ofSeconds(AdminPipeline.REQUEST_SECONDS),
                Duration.ofSeconds(AdminPipeline.UNPROVEN_SECONDS),
                Duration.ofSeconds(AdminPipeline.WRONG_TOKEN_SECONDS));
    }
}
