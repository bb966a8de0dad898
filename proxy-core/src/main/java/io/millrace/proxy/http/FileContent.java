package io.millrace.proxy.http;

import io.netty.util.ReferenceCounted;

/** A piece of content that lies in a file and that the system can send from there. Released by who sends it. */
public interface FileContent extends ReferenceCounted {
    /** Bytes of the piece, at least one. */
    long count();
}
