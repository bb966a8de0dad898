package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.value.OpenFilesLimit;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.observe.event.Event;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlTransport;
import io.millrace.worker.control.ListenerSockets;
import io.millrace.worker.control.SettingChange;
import io.millrace.worker.warmup.ThreadPriority;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.FileDescriptor;
import io.netty.handler.ssl.OpenSsl;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control logic of a worker process. It connects to the launcher, fetches the listening sockets, and starts the
 * proxy. Then it sends heartbeats and executes commands until it is drained and exits.
 *
 * <p>Commands run one after the other on the command thread, because some are slow, such as the start of the proxy.
 * Heartbeats are sent by the control loop, a separate event loop. Fields are confined to the command thread, except
 * where noted.
 */
final class Worker implements ControlLink.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

    /**
     * Drain time of a successor whose launcher died before the take-over. A few connections may already have been
     * accepted.
     */
    private static final long NOT_TAKEN_OVER_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerOptions options;
    private final ServedProxy.Factory factory;
    private final ControlTransport transport = ControlTransport.available();
    private final EventLoopGroup loop = transport.newEventLoopGroup("worker-control");
    private final ExecutorService commands = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "worker-commands");
        thread.setDaemon(true);
        return thread;
    });
    private final ControlLink link;
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

    private List<ListenerSockets> listeners = List.of();
    private Map<String, List<Integer>> descriptors = Map.of();
    private final WarmUpPhase warmUp;
    private final StoreHandOver handOver;
    /**
     * The assigned configuration. Null before the sockets are fetched, and after serving has begun.
     */
    private @Nullable ConfigSource assigned;

    /** The order to serve; null before it is received. */
    private ControlMessage.@Nullable Serve serve;

    private long drainNanos;
    private boolean draining;
    private byte @Nullable [] ticketKeys;

    /** True while the launcher that started this worker is connected. Written by command thread and control loop. */
    private volatile boolean hasOwnLauncher;

    /** The proxy; null until it serves. Written by the command thread, read by the control loop. */
    private volatile @Nullable ServedProxy serving;

    Worker(WorkerOptions options, ServedProxy.Factory factory, Warming.Starter warming) {
        this.options = options;
        this.factory = factory;
        this.link = new ControlLink(loop, transport, options.control(), this);
        this.warmUp = new WarmUpPhase(warming, commands);
        this.handOver = new StoreHandOver(link::send, commands, this::drainAsConfigured);
    }

    /** Runs the worker until it is stopped. Blocks. Returns the exit code of the process. */
    int run() {
        link.connect().addListener(future -> {
            if (!future.isSuccess()) {
                LOG.error(
                        "cannot connect to the launcher at {}: {}",
                        options.control().control(),
                        future.cause().getMessage());
                exitCode.complete(1);
            }
        });
        int code = exitCode.join();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
        return code;
    }

    /** Handles SIGTERM to the worker process: drains with the configured timeout. */
    void terminate() {
        commands.execute(this::drainAsConfigured);
    }

    private void drainAsConfigured() {
        drain(drainNanos, false);
    }

    @Override
    public void connected() {
        commands.execute(() -> {
            ServedProxy proxy = draining ? null : serving;
            link.send(new ControlMessage.Hello(ControlMessage.PROTOCOL_VERSION, proxy == null ? List.of() : listeners));
            if (proxy != null) {
                link.send(readiness(proxy));
            } else if (draining) {
                link.send(new ControlMessage.Draining());
            }
        });
    }

    /** Sends an event to the launcher that started this worker. Drops it if that launcher has exited. Any thread. */
    private void report(Event event) {
        if (hasOwnLauncher) {
            link.send(new ControlMessage.WorkerEvent(event));
        }
    }

    @Override
    public void disconnected() {
        hasOwnLauncher = false;
        commands.execute(() -> {
            if (serving == null) {
                LOG.error("the launcher exited before this worker was ready, so this worker exits");
                exitCode.complete(1);
                return;
            }
            if (handOver.launcherGone(serving) && !draining) {
                LOG.warn(
                        "the launcher exited before this worker took over, so this worker exits and the old worker continues to serve");
                drain(NOT_TAKEN_OVER_DRAIN_NANOS, false);
                return;
            }
            LOG.warn(
                    "the launcher has exited; this worker serves until a new launcher takes over (kill -TERM {} stops the worker)",
                    ProcessHandle.current().pid());
            link.reconnect();
        });
    }

    @Override
    public void received(ControlMessage message) {
        commands.execute(() -> execute(message));
    }

    private void execute(ControlMessage message) {
        ServedProxy served = serving;
        if (message instanceof ControlMessage.Assignment assignment) {
            onAssignment(assignment);
        } else if (message instanceof ControlMessage.Serve order) {
            serve = order;
            serveAssigned();
        } else if (served != null && handOver.execute(message, served)) {
            LOG.debug("message of the hand-over: {}", message);
        } else if (message instanceof ControlMessage.ChangeMade made) {
            handOver.onChangeMade(made);
        } else if (message instanceof ControlMessage.Reload reload) {
            link.send(new ControlMessage.Reloaded(reload.request(), reload(reload.config())));
        } else if (message instanceof ControlMessage.TicketKeys keys) {
            ticketKeys = Base64.getDecoder().decode(keys.base64());
            if (serving != null) {
                serving.ticketKeys(ticketKeys);
            }
        } else if (message instanceof ControlMessage.ReopenLogs) {
            ServedProxy proxy = serving;
            if (proxy != null) {
                proxy.reopenLogs();
            }
        } else if (message instanceof ControlMessage.ReturnSockets) {
            sendDescriptors();
        } else if (message instanceof ControlMessage.Drain drain) {
            drain(drain.timeoutNanos(), handOver.isReleased());
        }
    }

    private void onAssignment(ControlMessage.Assignment assignment) {
        hasOwnLauncher = true;
        listeners = assignment.listeners();
        int count = listeners.stream().mapToInt(ListenerSockets::count).sum();
        CompletionStage<List<FileDescriptor>> sockets = count == 0
                ? CompletableFuture.completedStage(List.of())
                : DescriptorExchange.fetch(loop, options.control(), count);
        var unused = sockets.thenAcceptAsync(fetched -> onDescriptors(assignment, fetched), commands)
                .exceptionally(failure -> {
                    fail(failure);
                    return null;
                });
    }

    private void onDescriptors(ControlMessage.Assignment assignment, List<FileDescriptor> sockets) {
        descriptors = byAddress(listeners, sockets);
        assigned = assignment.config();
        if (!assignment.standby()) {
            serve = new ControlMessage.Serve(false);
        }
        if (serve != null) {
            serveAssigned();
        } else if (assignment.warm()) {
            warmUp(assignment.config());
        } else {
            standBy();
        }
    }

    private void warmUp(ConfigSource source) {
        try {
            ProxyConfig config = load(source);
            long limitNanos = warmUp.limitNanos(config);
            if (limitNanos > 0) {
                link.send(new ControlMessage.WarmingUp(limitNanos));
                warmUp.begin(config, this::standBy);
                return;
            }
        } catch (IOException e) {
            LOG.debug("no warm-up: the configuration cannot be loaded; the error is reported later, at Serve", e);
        }
        standBy();
    }

    private void standBy() {
        // The evaluation of the log arguments loads the native libraries. This is the slowest part of the start, and
        // happens while the predecessor still serves.
        LOG.debug("standing by: epoll {}, OpenSSL {}", Epoll.isAvailable(), OpenSsl.isAvailable());
        link.send(new ControlMessage.Standby());
    }

    private void serveAssigned() {
        ConfigSource source = assigned;
        ControlMessage.Serve order = serve;
        if (source == null || order == null || draining) {
            return;
        }
        assigned = null;
        warmUp.abandon();
        try {
            ProxyConfig config = load(source);
            String warning = OpenFilesLimit.warning(config.limits().connections());
            if (warning != null) {
                LOG.warn("limits.connections: {}", warning);
            }
            ServedProxy proxy = factory.build(
                    config,
                    source.file(),
                    descriptors,
                    options.control().workerAdmin(options.generation()),
                    options.defaultPaths().state().toAbsolutePath());
            if (ticketKeys != null) {
                proxy.ticketKeys(ticketKeys);
            }
            proxy.events(this::report);
            proxy.predecessor(handOver.prepareServing(order.overlapping()));
            proxy.start();
            reportReady(proxy);
        } catch (IOException | RuntimeException e) {
            fail(e);
        }
    }

    private static Map<String, List<Integer>> byAddress(List<ListenerSockets> listeners, List<FileDescriptor> sockets) {
        Map<String, List<Integer>> byAddress = new LinkedHashMap<>();
        int nextSocket = 0;
        for (ListenerSockets listener : listeners) {
            if (sockets.isEmpty()) {
                break;
            }
            List<Integer> numbers = new ArrayList<>();
            for (int i = 0; i < listener.count(); i++) {
                numbers.add(sockets.get(nextSocket++).intValue());
            }
            byAddress.put(listener.address(), List.copyOf(numbers));
        }
        return byAddress;
    }

    private void reportReady(ServedProxy proxy) {
        serving = proxy;
        link.send(readiness(proxy));
        var unused = loop.scheduleAtFixedRate(
                () -> proxy.beat(() -> link.send(new ControlMessage.Beat())),
                0,
                options.beatIntervalNanos(),
                TimeUnit.NANOSECONDS);
    }

    private static ControlMessage readiness(ServedProxy proxy) {
        return new ControlMessage.Ready(proxy.transport(), proxy.tls(), System.getProperty("java.version", ""));
    }

    private List<SettingChange> reload(ConfigSource source) {
        ServedProxy proxy = serving;
        if (proxy == null || draining) {
            return List.of(new SettingChange("*", "rejected", "the worker is not serving"));
        }
        try {
            return proxy.reload(load(source));
        } catch (IOException | RuntimeException e) {
            LOG.warn("reload failed", e);
            return List.of(new SettingChange("*", "rejected", String.valueOf(e.getMessage())));
        }
    }

    private ProxyConfig load(ConfigSource source) throws IOException {
        ConfigResult result = source.loadChecked();
        ProxyConfig config = result.config();
        if (config == null) {
            // The launcher has already read and checked the same text. Therefore this happens only if launcher and
            // worker are of different versions.
            throw new IOException("the configuration has problems: " + result.problems());
        }
        drainNanos = config.timeouts().drainNanos();
        return options.defaultPaths().complete(config);
    }

    private void sendDescriptors() {
        if (serving == null || draining || transport != ControlTransport.EPOLL) {
            return;
        }
        List<Integer> all = new ArrayList<>();
        descriptors.values().forEach(all::addAll);
        DescriptorExchange.send(loop, options.control(), all);
    }

    /**
     * Reports that the worker accepts no further request. Until then its JIT compilers keep their priority: event loops
     * may wait for a compiler thread, and on a busy core a thread with the lowest priority gets no CPU time.
     */
    private void endRequests() {
        link.send(new ControlMessage.Draining());
        ThreadPriority.lowerCompilersForDrain();
    }

    /** Drains. {@code successorAccepts}: whether another worker has the store, and accepts connections. */
    private void drain(long timeoutNanos, boolean successorAccepts) {
        ServedProxy proxy = serving;
        if (draining) {
            return;
        }
        draining = true;
        if (proxy == null) {
            exitCode.complete(0);
            return;
        }
        handOver.markDraining();
        CompletionStage<Void> drained;
        if (successorAccepts) {
            drained = proxy.drainForSuccessor(
                    timeoutNanos,
                    () -> commands.execute(() -> {
                        endRequests();
                        proxy.endReads();
                    }));
        } else {
            drained = proxy.drain(timeoutNanos);
            endRequests();
        }
        var unused = drained.whenCompleteAsync(
                (nothing, failure) -> {
                    if (failure != null) {
                        LOG.warn("the drain failed and ended early", failure);
                    }
                    proxy.close();
                    link.close(null, () -> exitCode.complete(0));
                },
                commands);
    }

    private void fail(Throwable failure) {
        // The message of an I/O error contains the file or address, so no stack trace is needed.
        if (failure instanceof IOException) {
            LOG.error("the worker cannot serve: {}", failure.getMessage());
            LOG.debug("the worker cannot serve", failure);
        } else {
            LOG.error("the worker cannot serve", failure);
        }
        link.close(new ControlMessage.Failed(String.valueOf(failure.getMessage())), () -> exitCode.complete(1));
    }
}
