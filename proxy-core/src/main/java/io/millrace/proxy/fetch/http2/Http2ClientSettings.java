package io.millrace.proxy.fetch.http2;

/**
 * The limits of one HTTP/2 connection to an origin. Immutable.
 *
 * @param streamsMax limit of concurrent requests, in addition to the origin's limit
 * @param windowBytes receive window of one response, in bytes
 * @param headerListMax limit of a response's field section in bytes, counted as in RFC 9113 s6.5.2
 */
public record Http2ClientSettings(int streamsMax, int windowBytes, int headerListMax) {}
