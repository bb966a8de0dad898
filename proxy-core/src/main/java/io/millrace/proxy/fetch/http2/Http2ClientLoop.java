package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http2.HeadEncoder;
import io.millrace.proxy.http2.frame.FrameReader;

/**
 * The buffers for field blocks, shared by all connections of one event loop.
 *
 * <p>Confined to one event loop.
 */
public final class Http2ClientLoop {
    private final FrameReader.BlockBuffer block = new FrameReader.BlockBuffer();
    private final HeadEncoder encoder = new HeadEncoder();
    private final ResponseFields fields = new ResponseFields();

    FrameReader.BlockBuffer block() {
        return block;
    }

    HeadEncoder encoder() {
        return encoder;
    }

    ResponseFields fields() {
        return fields;
    }
}
