package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.http2.HeadEncoder;
import io.millrace.proxy.http2.frame.FrameReader;

/**
 * The buffers for field blocks that all HTTP/2 origin connections of one event loop share.
 *
 * <p>Confined to one event loop.
 */
public final class Http2ClientBuffers {
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
