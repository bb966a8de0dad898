package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.Http2Fault;

/** Counts events of HTTP/2 connections. Called on the event loop. */
public interface Http2Events {
    /** A connection speaks HTTP/2. */
    void onConnection();

    /** A request came. */
    void onRequest();

    /** A request was answered without an exchange. */
    void onAnswered();

    /** A client violated the protocol or a limit. */
    void onFault(Http2Fault fault);

    /** The client resets a request that is not answered yet. */
    void onReset();
}
