package io.millrace.proxy.fetch.http2;

/**
 * Limits of one connection to an origin. Immutable.
 *
 * @param streamsMax most requests at the same time, whatever the origin allows
 * @param windowBytes content of one response that may be on its way before the caller has taken any
 * @param headerListMax largest field section of a response, counted as RFC 9113 s6.5.2 does
 */
public record Http2ClientSettings(int streamsMax, int windowBytes, int headerListMax) {}
