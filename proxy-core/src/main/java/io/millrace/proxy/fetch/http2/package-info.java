/**
 * HTTP/2 connections to origins: frames and field blocks to responses, requests to frames, flow control (RFC 9113).
 *
 * <p>Independent of pools and calls. Reports events to {@link io.millrace.proxy.fetch.http2.StreamListener} and
 * {@link io.millrace.proxy.fetch.http2.ConnectionListener}.
 */
@NullMarked
package io.millrace.proxy.fetch.http2;

import org.jspecify.annotations.NullMarked;
