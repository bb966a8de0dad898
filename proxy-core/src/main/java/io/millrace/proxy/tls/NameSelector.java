package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SniHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import io.netty.util.concurrent.Promise;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * A channel handler that selects the TLS context by the server name in the ClientHello. Then it replaces itself
 * with the TLS handler.
 *
 * <p>Confined to the connection's event loop. TLS contexts are created on another thread.
 */
final class NameSelector extends SniHandler {
    /**
     * Limit of a ClientHello in bytes. Larger than a ClientHello with post-quantum key shares; all other extensions
     * are small.
     */
    private static final int HELLO_BYTES_MAX = 64 * 1024;

    private static final long HELLO_TIMEOUT_MILLIS = 10_000;

    /** The fatal alert unrecognized_name in a TLS 1.2 record (RFC 6066 section 3). */
    private static final byte[] UNRECOGNIZED_NAME = {21, 3, 3, 0, 2, 2, 112};

    private final ListenerTls tls;
    private final HandshakeListener handshakes;
    private @Nullable CertificateSet chosen;
    private boolean refused;
    /** True if the ClientHello belongs to a tls-alpn-01 challenge (RFC 8737). */
    private boolean challenged;

    /**
     * The promise of a handshake that waits for a certificate. The superclass keeps the ClientHello until the promise
     * completes.
     */
    private @Nullable Promise<SslContext> waitingHandshake;

    NameSelector(ListenerTls tls, HandshakeListener handshakes) {
        super((name, promise) -> promise, HELLO_BYTES_MAX, timeoutMillis(tls.automatic()));
        this.tls = tls;
        this.handshakes = handshakes;
    }

    private static long timeoutMillis(@Nullable AutomaticCertificates automatic) {
        return automatic == null ? HELLO_TIMEOUT_MILLIS : automatic.timeoutMillis(HELLO_TIMEOUT_MILLIS);
    }

    @Override
    protected Future<SslContext> lookup(ChannelHandlerContext ctx, @Nullable ByteBuf hello) throws Exception {
        AutomaticCertificates automatic = tls.automatic();
        challenged = automatic != null && automatic.isChallenge(hello);
        return super.lookup(ctx, hello);
    }

    @Override
    protected Future<SslContext> lookup(ChannelHandlerContext ctx, @Nullable String name) {
        Promise<SslContext> promise = ctx.executor().newPromise();
        if (refused) {
            // The superclass reads the same ClientHello again when more bytes arrive, and when the connection ends.
            return promise.setSuccess(null);
        }
        AutomaticCertificates automatic = tls.automatic();
        if (automatic != null && challenged) {
            waitingHandshake = promise;
            automatic.provideChallenge(name, closedOnFailure(ctx, promise));
            return promise;
        }
        if (automatic != null
                && name != null
                && !tls.hasExactly(name)
                && automatic.await(
                        name, () -> ctx.executor().execute(() -> provide(ctx, name, closedOnFailure(ctx, promise))))) {
            waitingHandshake = promise;
            return promise;
        }
        return provide(ctx, name, promise);
    }

    /**
     * Returns a new promise for a context that is not ready yet. When it succeeds, the outer promise gets the context.
     * When it fails, the connection is closed, and the outer promise completes without a context. The outer promise
     * must not fail, because its failure would reach the end of the pipeline as an unhandled exception.
     */
    private Promise<SslContext> closedOnFailure(ChannelHandlerContext ctx, Promise<SslContext> outer) {
        Promise<SslContext> inner = ctx.executor().newPromise();
        GenericFutureListener<Future<SslContext>> listener = done -> {
            if (!done.isSuccess() && !refused) {
                refused = true;
                handshakes.failed(HandshakeListener.Failure.UNKNOWN_NAME);
                ctx.close();
            }
            if (!outer.trySuccess(done.getNow())) {
                ReferenceCountUtil.release(done.getNow());
            }
        };
        inner.addListener(listener);
        return inner;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        super.channelInactive(ctx);
        // Otherwise the promise might never complete, for example if the proxy stops before it gets the certificate.
        if (waitingHandshake != null) {
            waitingHandshake.trySuccess(null);
        }
    }

    private Promise<SslContext> provide(ChannelHandlerContext ctx, @Nullable String name, Promise<SslContext> promise) {
        CertificateSet found = tls.find(name);
        if (found == null) {
            refuse(ctx);
            return promise.setFailure(new SSLHandshakeException("no certificate for " + name));
        }
        chosen = found;
        tls.contexts().provide(found, promise);
        return promise;
    }

    private void refuse(ChannelHandlerContext ctx) {
        if (!refused) {
            refused = true;
            handshakes.failed(HandshakeListener.Failure.UNKNOWN_NAME);
            ctx.writeAndFlush(Unpooled.wrappedBuffer(UNRECOGNIZED_NAME)).addListener(ChannelFutureListener.CLOSE);
        }
    }

    @Override
    protected void replaceHandler(ChannelHandlerContext ctx, @Nullable String name, @Nullable SslContext context)
            throws Exception {
        if (context == null) {
            // No certificate: the connection is being closed.
            return;
        }
        if (ctx.isRemoved()) {
            // The client disconnected during the wait.
            ReferenceCountUtil.release(context);
            return;
        }
        try {
            super.replaceHandler(ctx, name, context);
        } finally {
            // The SSL engine of the new handler has retained the context.
            ReferenceCountUtil.release(context);
        }
    }

    @Override
    protected SslHandler newSslHandler(SslContext context, ByteBufAllocator allocator) {
        CertificateSet set = chosen;
        ServerTlsConfig settings =
                set == null ? tls.contexts().settings() : tls.contexts().settings(set);
        SslHandler handler = super.newSslHandler(context, allocator);
        return ListenerTls.watched(
                set == null ? handler : tls.contexts().stapled(set, handler), handshakes, settings, tls);
    }
}
