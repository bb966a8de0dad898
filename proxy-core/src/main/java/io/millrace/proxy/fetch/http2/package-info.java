/**
 * HTTP/2 connections to origins (RFC 9113). Converts frames and field blocks to responses, and requests to frames.
 * Controls the flow of content.
 *
 * <p>Independent of pools and calls. Reports events to {@link io.millrace.proxy.fetch.http2.StreamListener} and
 * {@link io.millrace.proxy.fetch.http2.ConnectionListener}.
 */
@NullMarked
package io.millrace.proxy.fetch.http2;

import org.jspecify.annotations.NullMarked;
