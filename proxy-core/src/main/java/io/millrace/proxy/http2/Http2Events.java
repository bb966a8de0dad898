package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.Http2Fault;

/** Receives events of HTTP/2 connections for counters. Called on the event loop. */
public interface Http2Events {
    /** A connection began to use HTTP/2. */
    void onConnection();

    /** A request was received. */
    void onRequest();

    /** The fast lane, which answers requests from RAM within one call, answered a request. */
    void onAnswered();

    /** A client violated the protocol or a limit. */
    void onFault(Http2Fault fault);

    /** A client reset a request that was not answered yet. */
    void onReset();
}
