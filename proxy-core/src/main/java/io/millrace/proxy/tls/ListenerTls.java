package io.millrace.proxy.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one listening address: chooses certificates for its connections.
 *
 * <p>Thread-safe.
 */
public final class ListenerTls {
    private final CertificateStore store;
    private final ServerContexts contexts;
    private final boolean choosesByName;
    private final @Nullable AutomaticCertificates automatic;

    ListenerTls(
            CertificateStore store,
            ServerContexts contexts,
            boolean choosesByName,
            @Nullable AutomaticCertificates automatic) {
        this.store = store;
        this.contexts = contexts;
        this.choosesByName = choosesByName;
        this.automatic = automatic;
    }

    /**
     * Makes the handler that stands first in a connection's pipeline.
     *
     * @param onFailure called on the event loop when a handshake fails
     * @return owned by the pipeline that it is added to
     */
    public ChannelHandler newHandler(ByteBufAllocator allocator, Runnable onFailure) {
        if (!choosesByName) {
            CertificateSet only = store.index().find(null);
            SslContext ready = only == null ? null : contexts.ready(only);
            if (ready != null) {
                try {
                    return watched(ready.newHandler(allocator), onFailure);
                } finally {
                    ReferenceCountUtil.release(ready);
                }
            }
        }
        return new NameSelector(this, onFailure);
    }

    static SslHandler watched(SslHandler handler, Runnable onFailure) {
        GenericFutureListener<Future<Object>> listener = handshake -> {
            if (!handshake.isSuccess()) {
                onFailure.run();
            }
        };
        handler.handshakeFuture().addListener(listener);
        return handler;
    }

    /** The certificates for the name in a client's hello, null where it has none; null where there are none. */
    @Nullable
    CertificateSet find(@Nullable String name) {
        return store.index().find(name);
    }

    /** Whether there is a certificate for the name itself. */
    boolean hasExactly(String name) {
        return store.index().findExactly(name) != null;
    }

    /** Handshakes for automatic certificates; null where this address has certificates of its own. */
    @Nullable
    AutomaticCertificates automatic() {
        return automatic;
    }

    ServerContexts contexts() {
        return contexts;
    }
}
