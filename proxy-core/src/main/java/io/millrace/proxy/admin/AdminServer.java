package io.millrace.proxy.admin;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.dashboard.Dashboard;
import io.millrace.proxy.admin.dashboard.SharedReplies;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ProcessSource;
import io.millrace.proxy.admin.status.StatusSource;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP/1.1 server of the admin API. It listens on a Unix domain socket of mode 0660, and on TCP if a token is
 * configured. It has its own event loop and its own thread for blocking requests, so that admin requests and client
 * requests do not wait for each other.
 *
 * <p>Thread-safe.
 */
public final class AdminServer implements AutoCloseable {
    /** Limit of a request body; a longer body gets a 413. */
    public static final int MAX_BODY_BYTES = 64 << 10;

    private static final Logger LOGGER = LoggerFactory.getLogger(AdminServer.class);

    /** Limit of blocking requests that wait for their thread; further requests get a 503. */
    private static final int MAX_WAITING = 16;

    private static final long CLOSE_SECONDS = 5;

    private static final long WATCH_MILLIS = 1000;

    private final AdminTransport transport;
    private final EventLoopGroup group;
    private final ThreadPoolExecutor blockingCalls;
    private final AdminClient client;
    private final AdminRoutes routes;
    private final AdminTimes times;
    private final TcpRefusals refusals = new TcpRefusals();
    private final ChangesInProgress changes = new ChangesInProgress();
    /**
     * All open connections, from clients and to other admin servers. A connection that is added after the close is
     * closed at once.
     */
    private final ChannelGroup allOpen = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    private final List<Channel> listeners = new CopyOnWriteArrayList<>();
    private final @Nullable Dashboard dashboard;
    private @Nullable UnixSocketFile socketFile;
    private volatile @Nullable Channel unixListener;
    private @Nullable InetSocketAddress tcpAddress;

    private AdminServer(Builder builder) {
        transport = builder.transport;
        times = builder.times;
        group = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("millrace-admin", true), transport.ioHandlers());
        blockingCalls = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_WAITING),
                new DefaultThreadFactory("millrace-admin-worker", true));
        client = new AdminClient(group, transport, allOpen);
        List<AdminResource> resources = new ArrayList<>(builder.resources);
        for (Function<AdminClient, AdminResource> forwarded : builder.forwarded) {
            resources.add(forwarded.apply(client));
        }
        List<Supplier<String>> ownMetrics = new ArrayList<>(builder.metrics);
        if (builder.tcpAddress != null || builder.hasDashboard) {
            ownMetrics.add(refusals::prometheusText);
        }
        SharedReplies replies = new SharedReplies(blockingCalls, builder.nanoTime);
        if (builder.hasDashboard) {
            ownMetrics.add(replies::prometheusText);
        }
        if (!ownMetrics.isEmpty()) {
            resources.replaceAll(resource -> resource.path().equals(MetricsResource.PATH)
                    ? new MergedMetricsResource(resource, ownMetrics)
                    : resource);
        }
        dashboard = builder.hasDashboard ? dashboard(builder.access) : null;
        if (dashboard != null) {
            resources.replaceAll(replies::sharing);
            resources.addAll(dashboard.resources());
            addSnapshots(resources, replies);
        }
        routes = new AdminRoutes(resources);
    }

    private Dashboard dashboard(@Nullable AdminAccess tokens) {
        AdminAccess access = tokens == null ? AdminAccess.none() : tokens;
        LoopbackPorts ports = new LoopbackPorts(
                () -> bootstrap(transport.tcpServer(), TcpGuard.ofLoopback(access, dashboard)), group, listeners);
        return new Dashboard(access, ports, refusals::atLimit, System::nanoTime);
    }

    /** Adds the metrics under a second path, as a snapshot that all viewers of the dashboard share. */
    private static void addSnapshots(List<AdminResource> resources, SharedReplies replies) {
        resources.stream()
                .filter(resource -> resource.path().equals(MetricsResource.PATH))
                .findFirst()
                .ifPresent(metrics -> resources.add(replies.snapshot("/v1/dashboard/metrics", metrics)));
    }

    /** Creates a builder without listeners and resources. */
    public static Builder builder() {
        return new Builder();
    }

    private void listen(Builder builder) throws IOException {
        Path unixSocket = builder.unixSocket;
        if (unixSocket != null) {
            UnixSocketFile file = new UnixSocketFile(unixSocket);
            socketFile = file;
            file.claim();
            bind(transport.unixServer(), transport.address(file.bindPath()), null, unixSocket.toString());
            file.publish();
            watch(file);
        }
        InetSocketAddress address = builder.tcpAddress;
        AdminAccess access = builder.access;
        if (address != null && access != null) {
            TcpGuard guard = TcpGuard.of(access, address.getHostString(), dashboard);
            Channel listener = bind(transport.tcpServer(), address, guard, address.toString());
            tcpAddress = (InetSocketAddress) listener.localAddress();
            scheduleFileCheck(listener.eventLoop(), access);
        }
    }

    /** Reads changed files of tokens and TLS again, on the thread for blocking requests. */
    private void scheduleFileCheck(EventLoop loop, AdminAccess access) {
        var unused = loop.schedule(
                () -> {
                    try {
                        blockingCalls.execute(access::rereadChangedFiles);
                    } catch (RejectedExecutionException e) {
                        LOGGER.debug("token files are not checked now: too many admin requests are waiting");
                    }
                    scheduleFileCheck(loop, access);
                },
                access.checkIntervalNanos(),
                TimeUnit.NANOSECONDS);
    }

    /**
     * Checks each second whether the file of the Unix socket was deleted. If so, and if its directory exists, binds the
     * socket again.
     */
    private void watch(UnixSocketFile file) {
        Channel bound = listeners.get(listeners.size() - 1);
        unixListener = bound;
        var unused = bound.eventLoop()
                .scheduleWithFixedDelay(() -> restore(file), WATCH_MILLIS, WATCH_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void restore(UnixSocketFile file) {
        Channel before = unixListener;
        if (before == null || !file.isLost()) {
            return;
        }
        // A channel deletes its socket file when it closes, so the new channel is bound after the close.
        before.close().addListener(closed -> {
            ChannelFuture again = bootstrap(transport.unixServer(), null).bind(transport.address(file.bindPath()));
            // After a failure the channel stays closed, and the next check tries again.
            unixListener = again.channel();
            again.addListener(bound -> {
                if (!bound.isSuccess()) {
                    LOGGER.debug("the admin socket cannot be created again: {}", String.valueOf(bound.cause()));
                    return;
                }
                listeners.remove(before);
                listeners.add(again.channel());
                try {
                    file.publish();
                    LOGGER.warn("the admin socket was deleted and is created again");
                } catch (IOException e) {
                    LOGGER.warn("the admin socket was deleted and cannot be created again: {}", e.toString());
                }
            });
        });
    }

    private ServerBootstrap bootstrap(ChannelFactory<ServerChannel> channels, @Nullable TcpGuard guard) {
        return new ServerBootstrap()
                .group(group)
                .channelFactory(channels)
                .childHandler(
                        new AdminPipeline(allOpen, routes, blockingCalls, guard, times, refusals, changes, transport));
    }

    private Channel bind(
            ChannelFactory<ServerChannel> channels, SocketAddress address, @Nullable TcpGuard guard, String name)
            throws IOException {
        ChannelFuture bound = bootstrap(channels, guard).bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("the admin API cannot listen on " + name, bound.cause());
        }
        listeners.add(bound.channel());
        return bound.channel();
    }

    /** Returns the bound TCP address, with the actual port for port 0; null without TCP. */
    public @Nullable InetSocketAddress tcpAddress() {
        return tcpAddress;
    }

    /**
     * Opens the dashboard on a loopback port until this server closes. Returns its URL, with a code for one login
     * within two minutes. Fails if the server has no dashboard.
     */
    public CompletionStage<String> openDashboard() {
        return dashboard == null
                ? CompletableFuture.failedFuture(new IllegalStateException("this server has no dashboard"))
                : dashboard.open();
    }

    /**
     * Sends a GET to the admin server on another Unix domain socket.
     *
     * @return the answer with any status; fails if no server answers within the time
     */
    public CompletionStage<AdminReply> get(Path socket, String path, Duration timeout) {
        return client.send(socket, "GET", path, new byte[0], timeout);
    }

    /**
     * Returns a sender to another admin server that keeps its connection open. Use it only for requests that may be
     * sent twice.
     *
     * @param idlePath path of a GET that is sent while the connection is idle, so that the other server keeps it open
     */
    public KeptAdminConnection keptConnection(String idlePath) {
        return new KeptAdminConnection(group.next(), transport, allOpen, client, idlePath, KeptAdminConnection.IDLE);
    }

    /**
     * Returns a stage that completes when no request that changes state is in progress. Requests that only read, such
     * as the live log, do not count.
     */
    public CompletionStage<Void> whenNoChange() {
        CompletableFuture<Void> none = new CompletableFuture<>();
        try {
            group.next().execute(() -> changes.whenNone(() -> none.complete(null)));
        } catch (RejectedExecutionException e) {
            // The server is closed.
            none.complete(null);
        }
        return none;
    }

    /** Stops listening, deletes the socket file unless a successor has replaced it, and closes open connections. */
    @Override
    public void close() {
        for (Channel listener : listeners) {
            listener.close().awaitUninterruptibly();
        }
        if (socketFile != null) {
            try {
                socketFile.remove();
            } catch (IOException e) {
                LOGGER.warn("the file of the admin socket cannot be deleted", e);
            }
        }
        // An event loop that ends without a quiet period may leave channels open, and with them buffers of incomplete
        // requests.
        allOpen.close().awaitUninterruptibly();
        blockingCalls.shutdownNow();
        group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    /** Builds an {@link AdminServer}. Confined to one thread. */
    public static final class Builder {
        private final List<Supplier<String>> metrics = new ArrayList<>();
        private final List<AdminResource> resources = new ArrayList<>();
        private final List<Function<AdminClient, AdminResource>> forwarded = new ArrayList<>();
        private AdminTransport transport = AdminTransport.best();
        private AdminTimes times = AdminTimes.standard();
        private LongSupplier nanoTime = System::nanoTime;
        private @Nullable Path unixSocket;
        private @Nullable InetSocketAddress tcpAddress;
        private @Nullable AdminAccess access;
        private boolean hasDashboard;

        private Builder() {}

        /**
         * Adds metrics to the answer of {@code GET /metrics}, in Prometheus' text format. Each scrape calls the
         * supplier.
         */
        public Builder metrics(Supplier<String> text) {
            metrics.add(text);
            return this;
        }

        /** Adds a Unix domain socket; its directory must exist. */
        public Builder unixSocket(Path socket) {
            unixSocket = socket;
            return this;
        }

        /** Listens on TCP too, where every request but the public ones must carry a token. */
        public Builder tcp(InetSocketAddress address, AdminAccess tokens) {
            tcpAddress = address;
            access = tokens;
            return this;
        }

        /** Serves the dashboard on loopback addresses, and with TLS on other addresses. */
        public Builder dashboard() {
            hasDashboard = true;
            return this;
        }

        /** Adds a resource. */
        public Builder resource(AdminResource resource) {
            resources.add(resource);
            return this;
        }

        /**
         * Adds a resource that is forwarded to the admin server on another Unix domain socket.
         *
         * @param socket returns the socket for each request; null while no server runs; the answer is then a 503
         * @param timeout time limit of the answer, after which the client gets status 504
         */
        public Builder forward(String method, String path, Supplier<@Nullable Path> socket, Duration timeout) {
            forwarded.add(client -> new ForwardingResource(client, method, path, socket, timeout));
            return this;
        }

        /**
         * Adds {@code GET /v1/status}: the worker's answer with the launcher's processes and configuration.
         *
         * @param socket returns the worker's admin socket for each request; null while there is no worker
         * @param processes returns the member {@code process}
         * @param launcher returns the member {@code config}, and all other members if no worker answers
         */
        public Builder forwardStatus(Supplier<@Nullable Path> socket, ProcessSource processes, StatusSource launcher) {
            forwarded.add(client -> new ForwardedStatusResource(client, socket, processes, launcher));
            return this;
        }

        /** Sets the time limit for receiving a request; a slower request gets status 408. */
        Builder requestTime(Duration limit) {
            return times(new AdminTimes(limit, times.unauthenticated(), times.wrongToken()));
        }

        Builder times(AdminTimes limits) {
            times = limits;
            return this;
        }

        /** Sets the clock of the replies that viewers of the dashboard share. */
        Builder nanoTime(LongSupplier clock) {
            nanoTime = clock;
            return this;
        }

        Builder transport(AdminTransport chosen) {
            transport = chosen;
            return this;
        }

        /**
         * Starts to listen. Blocks until the sockets are bound.
         *
         * @throws IOException if an address is in use or a socket file cannot be created; all opened sockets are then
         *     closed
         */
        public AdminServer start() throws IOException {
            AdminServer server = new AdminServer(this);
            try {
                server.listen(this);
                return server;
            } catch (IOException e) {
                server.close();
                throw e;
            }
        }
    }
}
