package io.millrace.proxy.http1;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/**
 * Netty's decoder at its strictest: validated names and values, CRLF line ends only, no second Content-Length, and no message
 * that carries both Content-Length and Transfer-Encoding (RFC 9112 s6.1 lets a server refuse it; passing one on is how requests
 * are smuggled).
 *
 * <p>Confined to one event loop.
 */
final class Http1RequestDecoder extends HttpRequestDecoder {
    private static final int CHUNK_BYTES_MAX = 64 * 1024;

    private final Http1Connection connection;

    Http1RequestDecoder(Http1Settings settings, Http1Connection connection) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(settings.requestLineBytesMax())
                .setMaxHeaderSize(settings.headerBytesMax())
                .setMaxChunkSize(CHUNK_BYTES_MAX)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setHeadersFactory(DefaultHttpHeadersFactory.headersFactory().withValidation(true))
                .setTrailersFactory(DefaultHttpHeadersFactory.trailersFactory().withValidation(true)));
        this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        if (message instanceof ByteBuf bytes && bytes.isReadable()) {
            connection.onBytes();
        }
        super.channelRead(ctx, message);
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new FramingException("Content-Length together with Transfer-Encoding");
    }

    /** Two framings in one message. */
    static final class FramingException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        FramingException(String message) {
            super(message);
        }

        @Override
        @SuppressWarnings("UnsynchronizedOverridesSynchronized")
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
