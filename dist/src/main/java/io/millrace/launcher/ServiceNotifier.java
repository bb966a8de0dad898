package io.millrace.launcher;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sender of service states to systemd, according to sd_notify(3). It sends datagrams with {@code NAME=value} lines
 * to the socket in {@code NOTIFY_SOCKET}; without this environment variable it sends nothing. If {@code WATCHDOG_USEC}
 * is set, it also sends a watchdog message at half of that interval. The message is sent on the event loop that
 * supervises the workers, so that systemd detects a hang of that loop.
 *
 * <p>Thread-safe.
 */
final class ServiceNotifier implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceNotifier.class);

    /** Additional time, after the drain, for which the service manager is asked to wait. */
    private static final long GRACE_MICROS = TimeUnit.SECONDS.toMicros(10);

    private final @Nullable Channel channel;

    private ServiceNotifier(@Nullable Channel channel) {
        this.channel = channel;
    }

    /** Creates a notifier from the {@code environment} of the process {@code pid}. Blocks; not on the event loop. */
    static ServiceNotifier of(Map<String, String> environment, long pid, EventLoop loop) {
        String socket = environment.getOrDefault("NOTIFY_SOCKET", "");
        if (socket.isEmpty()) {
            return new ServiceNotifier(null);
        }
        if (!Epoll.isAvailable()) {
            LOG.warn("NOTIFY_SOCKET is set, but the service manager cannot be notified without epoll");
            return new ServiceNotifier(null);
        }
        // A leading @ marks a name in the abstract namespace of unix(7), which has no file.
        String path = socket.startsWith("@") ? "\0" + socket.substring(1) : socket;
        ChannelFuture connected = new Bootstrap()
                .group(loop)
                .channel(EpollDomainDatagramChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(new DomainSocketAddress(path))
                .awaitUninterruptibly();
        if (!connected.isSuccess()) {
            LOG.warn(
                    "the service manager cannot be notified: {}",
                    connected.cause().getMessage());
            return new ServiceNotifier(null);
        }
        ServiceNotifier notifier = new ServiceNotifier(connected.channel());
        long periodMicros = watchdogMicros(environment, pid) / 2;
        if (periodMicros > 0) {
            var unused =
                    loop.scheduleAtFixedRate(() -> notifier.send("WATCHDOG=1"), 0, periodMicros, TimeUnit.MICROSECONDS);
        }
        return notifier;
    }

    /** Watchdog timeout in microseconds; 0 if none is set for this process. */
    private static long watchdogMicros(Map<String, String> environment, long pid) {
        String watched = environment.getOrDefault("WATCHDOG_PID", "");
        if (!watched.isEmpty() && !watched.equals(Long.toString(pid))) {
            return 0;
        }
        try {
            return Long.parseLong(environment.getOrDefault("WATCHDOG_USEC", "0"));
        } catch (NumberFormatException e) {
            LOG.warn(
                    "WATCHDOG_USEC is ignored, because its value is not a number: {}",
                    environment.get("WATCHDOG_USEC"));
            return 0;
        }
    }

    /** Reports that a worker serves. */
    void ready(String status) {
        send("READY=1\nSTATUS=" + status);
    }

    /** Reports that the configuration is being reloaded; {@link #ready} follows. */
    void reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=" + TimeUnit.NANOSECONDS.toMicros(System.nanoTime()));
    }

    void status(String status) {
        send("STATUS=" + status);
    }

    /** Reports that the service stops. Asks the service manager to wait until requests in progress are drained. */
    void stopping(long drainNanos) {
        send("STOPPING=1\nSTATUS=waiting for requests in flight\nEXTEND_TIMEOUT_USEC="
                + (TimeUnit.NANOSECONDS.toMicros(drainNanos) + GRACE_MICROS));
    }

    private void send(String lines) {
        Channel open = channel;
        if (open != null && open.isOpen()) {
            open.writeAndFlush(Unpooled.copiedBuffer(lines, StandardCharsets.UTF_8))
                    .addListener(sent -> {
                        if (!sent.isSuccess()) {
                            LOG.warn("the service manager cannot be notified: {}", String.valueOf(sent.cause()));
                        }
                    });
        }
    }

    @Override
    public void close() {
        Channel open = channel;
        if (open != null) {
            open.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
        }
    }
}
