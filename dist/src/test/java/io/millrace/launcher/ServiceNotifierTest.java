package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainDatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceNotifierTest {
    private static final long PID = 4711;

    @TempDir
    Path directory;

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tellsTheManagerHowTheServiceIs(boolean abstractName) throws Exception {
        String name = abstractName
                ? "@millrace-test-" + System.nanoTime()
                : directory.resolve("n").toString();
        listenAt(name);
        try (ServiceNotifier notifier = ServiceNotifier.of(Map.of("NOTIFY_SOCKET", name), PID, group.next())) {
            notifier.ready("serving");
            assertEquals("READY=1\nSTATUS=serving", next());
            notifier.reloading();
            assertTrue(next().matches("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
            notifier.stopping(TimeUnit.SECONDS.toNanos(30));
            assertTrue(next().endsWith("EXTEND_TIMEOUT_USEC=40000000"));
        }
        assertNull(heard.poll());
    }

    @Test
    void givesSignsOfLifeWhereTheManagerWaitsForThem() throws Exception {
        String name = directory.resolve("n").toString();
        listenAt(name);
        Map<String, String> environment = new HashMap<>(Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "20000"));
        try (ServiceNotifier notifier = ServiceNotifier.of(environment, PID, group.next())) {
            assertEquals("WATCHDOG=1", next());
            assertEquals("WATCHDOG=1", next());
            assertEquals("WATCHDOG=1", next(), notifier::toString);
        }
    }

    @Test
    void leavesTheWatchdogOfAnotherProcessAlone() throws Exception {
        String name = directory.resolve("n").toString();
        listenAt(name);
        Map<String, String> environment =
                Map.of("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "2", "WATCHDOG_PID", Long.toString(PID + 1));
        try (ServiceNotifier notifier = ServiceNotifier.of(environment, PID, group.next())) {
            notifier.status("here");
            assertEquals("STATUS=here", next());
        }
    }

    @Test
    void saysNothingWithoutAManager() {
        try (ServiceNotifier notifier = ServiceNotifier.of(Map.of(), PID, group.next())) {
            notifier.ready("serving");
        }
        assertNull(heard.poll());
    }

    private String next() throws InterruptedException {
        return String.valueOf(heard.poll(10, TimeUnit.SECONDS));
    }

    private void listenAt(String name) {
        Channel manager = new Bootstrap()
                .group(group)
                .channel(EpollDomainDatagramChannel.class)
                .handler(new SimpleChannelInboundHandler<DomainDatagramPacket>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, DomainDatagramPacket packet) {
                        heard.add(packet.content().toString(StandardCharsets.UTF_8));
                    }
                })
                .bind(new DomainSocketAddress(name.startsWith("@") ? "\0" + name.substring(1) : name))
                .syncUninterruptibly()
                .channel();
        assertTrue(manager.isActive());
    }
}
