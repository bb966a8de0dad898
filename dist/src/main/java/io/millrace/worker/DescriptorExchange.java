package io.millrace.worker;

import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.ControlTransport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.unix.DomainSocketReadMode;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The worker's side of the descriptor socket. Over this socket, launcher and worker send each other listening sockets.
 * Needs epoll. Stateless.
 */
final class DescriptorExchange {
    private DescriptorExchange() {}

    /**
     * Fetches {@code count} descriptors from the launcher.
     *
     * @return completes with all descriptors; the caller owns them. After a failure, received descriptors are closed
     */
    static CompletionStage<List<FileDescriptor>> fetch(EventLoopGroup loop, ControlPaths paths, int count) {
        CompletableFuture<List<FileDescriptor>> fetched = new CompletableFuture<>();
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(ControlTransport.EPOLL.channelType())
                .option(EpollChannelOption.DOMAIN_SOCKET_READ_MODE, DomainSocketReadMode.FILE_DESCRIPTORS)
                .handler(new Receiver(count, fetched));
        ChannelFuture connected = bootstrap.connect(ControlTransport.EPOLL.address(paths.descriptors()));
        connected.addListener(future -> {
            if (!future.isSuccess()) {
                fetched.completeExceptionally(future.cause());
            }
        });
        return fetched;
    }

    /** Sends descriptors to a launcher that has requested them. The caller still owns them. */
    static void send(EventLoopGroup loop, ControlPaths paths, List<Integer> descriptors) {
        new Bootstrap()
                .group(loop)
                .channel(ControlTransport.EPOLL.channelType())
                .handler(new Sender(descriptors))
                .connect(ControlTransport.EPOLL.address(paths.descriptors()));
    }

    private static final class Receiver extends SimpleChannelInboundHandler<FileDescriptor> {
        private final int count;
        private final List<FileDescriptor> received = new ArrayList<>();
        private final CompletableFuture<List<FileDescriptor>> fetched;

        Receiver(int count, CompletableFuture<List<FileDescriptor>> fetched) {
            this.count = count;
            this.fetched = fetched;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FileDescriptor descriptor) {
            received.add(descriptor);
            if (received.size() == count) {
                fetched.complete(List.copyOf(received));
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) throws IOException {
            if (received.size() < count) {
                for (FileDescriptor descriptor : received) {
                    descriptor.close();
                }
                fetched.completeExceptionally(new IOException("wrong number of descriptors from the launcher: actual="
                        + received.size() + ", expected=" + count));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fetched.completeExceptionally(cause);
            context.close();
        }
    }

    private static final class Sender extends SimpleChannelInboundHandler<Object> {
        private final List<Integer> descriptors;

        Sender(List<Integer> descriptors) {
            this.descriptors = descriptors;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            ChannelFuture lastWrite = context.newSucceededFuture();
            for (int descriptor : descriptors) {
                lastWrite = context.write(new FileDescriptor(descriptor));
            }
            context.flush();
            lastWrite.addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, Object message) {
            // The launcher sends nothing on this socket.
            context.close();
        }
    }
}
