package io.millrace.proxy.admin;

import io.millrace.proxy.admin.dashboard.LoopbackListeners;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Opens loopback listeners of an admin server on free ports. Thread-safe. */
final class LoopbackPorts implements LoopbackListeners {
    private final Supplier<ServerBootstrap> bootstrap;
    private final EventLoopGroup group;
    private final List<Channel> listeners;

    /**
     * Creates the factory, without a listener.
     *
     * @param listeners receives each listener while it is open; thread-safe
     */
    LoopbackPorts(Supplier<ServerBootstrap> bootstrap, EventLoopGroup group, List<Channel> listeners) {
        this.bootstrap = bootstrap;
        this.group = group;
        this.listeners = listeners;
    }

    /** An open port. */
    private record Port(Channel channel, InetSocketAddress address) implements Listener {
        @Override
        public void close() {
            channel.close();
        }
    }

    @Override
    public CompletionStage<Listener> open() {
        CompletableFuture<Listener> opened = new CompletableFuture<>();
        ChannelFuture binding = bootstrap.get().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        binding.addListener(bound -> {
            if (!bound.isSuccess()) {
                opened.completeExceptionally(bound.cause());
                return;
            }
            Channel channel = binding.channel();
            listeners.add(channel);
            channel.closeFuture().addListener(closed -> listeners.remove(channel));
            opened.complete(new Port(channel, (InetSocketAddress) channel.localAddress()));
        });
        return opened;
    }

    @Override
    public void schedule(Runnable task, Duration delay) {
        var unused = group.next().schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }
}
