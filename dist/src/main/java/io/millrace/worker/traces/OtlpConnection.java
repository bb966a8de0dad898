package io.millrace.worker.traces;

import io.millrace.proxy.net.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.unix.Errors;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The persistent HTTP/1.1 connection to the collector, opened by the first request and after each loss. It has an event
 * loop of its own. Used by one thread, which waits for each answer.
 */
final class OtlpConnection implements AutoCloseable {
    /** Limit of the time until an answer, and of its parts: connecting and the TLS handshake. */
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final long CLOSE_SECONDS = 1;
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    /** The name of the system call in Netty's messages, such as "finishConnect(..) failed with error(-111): ". */
    private static final Pattern CALL = Pattern.compile("^\\w+\\(\\.\\.\\) failed with error\\(-\\d+\\): ");

    private final String host;
    private final int port;
    private final @Nullable SslContext tls;
    private final Duration timeout;
    private final MultiThreadIoEventLoopGroup loops;
    private final Bootstrap bootstrap;
    /** The connection that the next request may use. */
    private @Nullable Channel channel;

    /**
     * Creates a connection to the host of a URL. Does not connect yet.
     *
     * @param tls null for http
     * @param timeout limit of each request, such as {@link #TIMEOUT}
     */
    OtlpConnection(URI url, @Nullable SslContext tls, Duration timeout) {
        this.tls = tls;
        this.timeout = timeout;
        String named = url.getHost();
        host = named.startsWith("[") ? named.substring(1, named.length() - 1) : named;
        port = url.getPort() >= 0 ? url.getPort() : tls == null ? HTTP_PORT : HTTPS_PORT;
        Transport transport = Transport.choose("auto");
        loops = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("millrace-otlp-io", true), transport.ioHandlerFactory());
        bootstrap = new Bootstrap()
                .group(loops)
                .channel(transport.socketChannelClass())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        initialize(opened);
                    }
                });
    }

    private void initialize(Channel opened) {
        if (tls != null) {
            SslHandler handler = tls.newHandler(opened.alloc(), host, port);
            handler.setHandshakeTimeoutMillis(timeout.toMillis());
            opened.pipeline().addLast(handler);
        }
        opened.pipeline().addLast(new HttpClientCodec(), new OtlpAnswerHandler());
    }

    /**
     * Sends a request and waits for the answer, at most for the timeout. Never repeats a request.
     *
     * @param request owned by this method
     * @throws IOException if there is no answer
     */
    OtlpAnswer exchange(FullHttpRequest request) throws IOException, InterruptedException {
        CompletableFuture<OtlpExchange.Result> result = new CompletableFuture<>();
        ChannelFuture opening = open();
        opening.addListener(opened -> {
            if (opened.isSuccess()) {
                opening.channel().writeAndFlush(new OtlpExchange(request, result));
            } else {
                request.release();
                result.completeExceptionally(opened.cause());
            }
        });
        boolean keepsConnection = false;
        try {
            OtlpExchange.Result received = result.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            keepsConnection = received.keepsConnection();
            return received.answer();
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + timeout.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new IOException(text(e.getCause()), e.getCause());
        } finally {
            if (!keepsConnection) {
                channel = null;
                opening.channel().close();
            }
        }
    }

    private ChannelFuture open() {
        Channel kept = channel;
        if (kept != null && !isUnconnected()) {
            return kept.newSucceededFuture();
        }
        ChannelFuture opening = bootstrap.connect(host, port);
        channel = opening.channel();
        return opening;
    }

    /** Returns true if the next request opens another connection. */
    boolean isUnconnected() {
        Channel kept = channel;
        return kept == null || !kept.isActive();
    }

    /** Returns the text of a failure; without the message if this can contain the value of a header field. */
    private static String text(@Nullable Throwable failure) {
        // Netty wraps the failures of handshakes.
        Throwable cause =
                failure instanceof DecoderException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof ClosedChannelException) {
            return "the connection was closed";
        }
        if (cause instanceof UnknownHostException) {
            return "unknown host: " + cause.getMessage();
        }
        if (cause instanceof RuntimeException) {
            return cause.getClass().getName();
        }
        if (cause == null) {
            return "unknown failure";
        }
        // The message of these exceptions is enough. For other exceptions, the name of the class is also needed.
        boolean isPlain = cause instanceof ConnectException
                || cause instanceof Errors.NativeIoException
                || cause.getClass() == IOException.class;
        return isPlain ? CALL.matcher(String.valueOf(cause.getMessage())).replaceFirst("") : cause.toString();
    }

    /** Closes the connection and ends the event loop, without waiting for it. */
    @Override
    public void close() {
        loops.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
