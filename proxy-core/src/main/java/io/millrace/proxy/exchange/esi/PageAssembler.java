package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.edge.EdgeRules;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.remap.NotMapped;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The objects that one event loop needs to assemble pages from ESI documents.
 *
 * <p>Confined to one event loop.
 */
public final class PageAssembler {
    static final FaultLog FAULTS =
            new FaultLog(LoggerFactory.getLogger(PageAssembler.class), TimeUnit.MINUTES.toNanos(1), System::nanoTime);

    private final RequestReceiver requests;
    private final Supplier<ExchangeSettings> settings;
    private final LoopCounters counters;
    private final PageMemory memory;

    /**
     * @param requests receives the requests for fragments, like requests of clients
     * @param settings the settings in force
     * @param memory the memory of the pages of all event loops
     */
    public PageAssembler(
            RequestReceiver requests, Supplier<ExchangeSettings> settings, LoopCounters counters, PageMemory memory) {
        this.requests = requests;
        this.settings = settings;
        this.counters = counters;
        this.memory = memory;
    }

    /** Returns the response to a request whose page may have to be assembled; null if no rule assembles pages. */
    public @Nullable AssembledResponse begin(ClientStream client, RequestHead request) {
        EdgeRules edge = settings.get().edge();
        return edge == null || !edge.assemblesPages() ? null : new AssembledResponse(this, client, request);
    }

    RequestReceiver requests() {
        return requests;
    }

    LoopCounters counters() {
        return counters;
    }

    PageMemory memory() {
        return memory;
    }

    /** Limit of the bytes that all pages in assembly hold together. */
    long memoryBytesMax() {
        EdgeRules edge = settings.get().edge();
        // After a reload without ESI rules there is no limit; only the pages already begun are still sent.
        return edge == null ? Long.MAX_VALUE : edge.esiBytesMax();
    }

    /** Returns true if a remap rule is responsible for a URL. Other URLs are never forwarded for a fragment. */
    boolean isMapped(TargetUri target, ClientConnection client) {
        return settings.get().remap().match(target, client.localAddress().getPort()) != NotMapped.NO_RULE;
    }
}
