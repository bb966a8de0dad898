package io.millrace.worker;

import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.ProxyServerBuilder;
import io.millrace.proxy.ReloadReport;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.store.CacheStore;
import io.millrace.store.Successor;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.SettingChange;
import io.millrace.worker.traces.OtlpExport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The {@link ServedProxy} of the product, which delegates to a {@link ProxyServer}. Methods are called on the threads
 * that the interface names.
 */
final class MillraceProxy implements ServedProxy {
    private static final String ORIGIN_MARKS = "origins.down";
    private static final String ORIGIN_RECORDS = "origins.seen";
    private static final String TLS_STATE = "tls";
    /** Directory of purges for other nodes of a fleet, in the state directory. */
    public static final String FLEET = "fleet";

    private static final String PURGE_RECORDS = "purges";
    private static final String DRAIN_MARK = "server.draining";

    private final ProxyServer proxy;
    private final Relay relay;

    /** The forwarder of events to a receiver that is set later. Drops events before that. */
    private static final class Relay implements EventSink {
        private volatile EventSink target = EventSink.NONE;

        @Override
        public void record(Event event) {
            target.record(event);
        }
    }

    private MillraceProxy(ProxyServer proxy, Relay relay) {
        this.proxy = proxy;
        this.relay = relay;
    }

    static ServedProxy build(
            ProxyConfig config,
            @Nullable Path configFile,
            Map<String, List<Integer>> descriptors,
            Path adminSocket,
            Path state)
            throws IOException {
        ProxyServerBuilder builder =
                ProxyServer.builder().config(config).adoptListeners(descriptors).adminSocket(adminSocket);
        // These files are in the directory of the socket, because all workers of this launcher share them.
        builder.originMarks(adminSocket.resolveSibling(ORIGIN_MARKS));
        builder.originRecords(adminSocket.resolveSibling(ORIGIN_RECORDS));
        builder.drainMark(adminSocket.resolveSibling(DRAIN_MARK));
        builder.hookTrail(ControlPaths.workerHooks(adminSocket));
        builder.tlsState(state.resolve(TLS_STATE));
        builder.purgeRecords(state.resolve(PURGE_RECORDS));
        builder.fleetOutbox(state.resolve(FLEET));
        if (configFile != null) {
            builder.configFile(configFile);
        }
        builder.spans(OtlpExport::open);
        Relay relay = new Relay();
        return new MillraceProxy(builder.events(relay).build(), relay);
    }

    @Override
    public void events(EventSink sink) {
        relay.target = sink;
    }

    @Override
    public void start() throws IOException {
        proxy.start();
    }

    @Override
    public List<SettingChange> reload(ProxyConfig config) {
        return proxy.reload(config).settings().stream()
                .map(setting -> change(setting.key(), setting.result()))
                .toList();
    }

    static SettingChange change(String path, ReloadReport.Result result) {
        if (result == ReloadReport.Result.APPLIED) {
            return new SettingChange(path, "applied", "");
        }
        ConfigKey<?> key = ConfigCatalog.find(path);
        // A setting that needs a restart of the launcher is not rejected, because a rejection would stop the whole
        // change.
        return key != null && key.apply() == ConfigKey.Apply.RELAUNCH
                ? new SettingChange(path, "relaunch", "")
                : new SettingChange(path, "rejected", "the setting takes effect only in a new worker");
    }

    @Override
    public CompletionStage<Void> drain(long nanos) {
        return proxy.drain(nanos);
    }

    @Override
    public CompletionStage<Void> drainForSuccessor(long nanos, Runnable onNoFurtherRequest) {
        return proxy.handOver().drain(nanos, onNoFurtherRequest);
    }

    @Override
    public void endReads() {
        proxy.handOver().endReads();
    }

    @Override
    public void release(Successor successor) throws IOException {
        proxy.handOver().release(successor);
    }

    @Override
    public void reopenStore() throws IOException {
        proxy.handOver().reopenStore();
    }

    @Override
    public void applyChange(byte[] change, Consumer<@Nullable IOException> reply) {
        proxy.handOver().applyChange(change, reply);
    }

    @Override
    public void predecessor(CacheStore.@Nullable Predecessor answering) {
        proxy.handOver().predecessor(answering);
    }

    @Override
    public void beat(Runnable allLoopsAlive) {
        proxy.beat(allLoopsAlive);
    }

    @Override
    public void reopenLogs() {
        proxy.reopenLogs();
    }

    @Override
    public void ticketKeys(byte[] keys) {
        proxy.ticketKeys(keys);
    }

    @Override
    public String transport() {
        return proxy.transport();
    }

    @Override
    public String tls() {
        return proxy.tls();
    }

    @Override
    public void close() {
        // A worker process closes its proxy only when it exits.
        proxy.handOver().closeBeforeExit();
    }
}
