package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.esi.DocumentProperties;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.RequestHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request for one fragment, and the stream that receives its response. An exchange treats this object as a client.
 *
 * <p>Confined to one event loop.
 */
final class Fragment implements ClientStream {
    /** Receives the result, once, unless the fragment is cancelled. */
    interface End {
        /** The response is complete. Takes ownership of the array. */
        void onContent(byte[] content);

        /** The fragment failed; {@code reason} is the identifier for Cache-Status and logs. */
        void onFailure(String reason);
    }

    private final PageAssembler assembler;
    private final ClientStream client;
    private final RequestHead request;
    private final int level;
    private final PageBudget budget;
    private final End end;
    private @Nullable RequestHandler handler;
    private @Nullable Future<?> timer;
    private final CollectedContent content;
    /** The reason why the response cannot be included; null if it can be included. */
    private @Nullable String refusal = "esi-fragment-incomplete";

    private boolean isAssembled;
    private boolean isOutOfMemory;
    /** True once the exchange has ended its response. */
    private boolean isAnswered;

    private boolean isEnded;

    /**
     * @param client the stream of the client, whose event loop and connection the fragment shares
     * @param level nesting level of the fragment: 1 if the page itself includes it
     * @param memory the memory of the document that includes the fragment
     */
    Fragment(
            PageAssembler assembler,
            ClientStream client,
            RequestHead request,
            int level,
            PageBudget budget,
            HeldMemory memory,
            End end) {
        this.assembler = assembler;
        this.client = client;
        this.request = request;
        this.level = level;
        this.budget = budget;
        this.content = new CollectedContent(memory);
        this.end = end;
    }

    /** Sends the request. The result may arrive during this call. */
    void start() {
        timer = client.eventLoop()
                .schedule(this::onTimeout, budget.config().includeTimeoutMillis(), TimeUnit.MILLISECONDS);
        RequestHandler begun = assembler.requests().onRequest(this, request, 0);
        handler = begun;
        if (!isEnded || isAnswered) {
            begun.onRequestEnd();
        }
    }

    /** Cancels the request, because its response is no longer needed. */
    void cancel() {
        if (isEnded) {
            return;
        }
        isEnded = true;
        content.clear();
        if (timer != null) {
            timer.cancel(false);
        }
        // Stop later, because the exchange may be calling this method.
        client.eventLoop().execute(() -> {
            if (handler != null && !isAnswered) {
                isAnswered = true;
                handler.onClientGone();
            }
        });
    }

    private void onTimeout() {
        fail(PageFailure.FRAGMENT_TIMEOUT);
    }

    private void fail(String reason) {
        if (!isEnded) {
            cancel();
            end.onFailure(reason);
        }
    }

    int level() {
        return level;
    }

    PageBudget budget() {
        return budget;
    }

    /** Notes that the content is an assembled page. Its bytes were already counted during its assembly. */
    void assembled() {
        isAssembled = true;
    }

    /** Notes that there was no memory to assemble the content, which is an ESI document itself. */
    void outOfMemory() {
        isOutOfMemory = true;
    }

    @Override
    public EventExecutor eventLoop() {
        return client.eventLoop();
    }

    @Override
    public ByteBufAllocator alloc() {
        return client.alloc();
    }

    @Override
    public ClientConnection connection() {
        return client.connection();
    }

    @Override
    public void writeInterim(OutboundHead head) {}

    @Override
    public void writeHead(OutboundHead head) {
        int status = head.status();
        if (status < 200 || status > 299 || status == 206) {
            refusal = "esi-fragment-" + status;
        } else if (DocumentProperties.isEncoded(head.fieldsAfterEdits())) {
            refusal = "esi-fragment-encoding";
        } else {
            refusal = null;
        }
    }

    @Override
    public void flush() {}

    @Override
    public void write(ByteBuf piece) {
        String reason = null;
        try {
            if (refusal == null && !isEnded) {
                reason = appendOrRefuse(piece);
            }
        } finally {
            piece.release();
        }
        if (reason != null) {
            fail(reason);
        }
    }

    /** Appends a copy of a piece. Returns null on success, or the reason why the piece exceeds a limit. */
    private @Nullable String appendOrRefuse(ByteBuf piece) {
        if (!isAssembled && !budget.takeBytes(piece.readableBytes())) {
            return PageFailure.PAGE_SIZE;
        }
        return content.append(piece) ? null : PageFailure.MEMORY;
    }

    @Override
    public void finish() {
        isAnswered = true;
        if (isEnded) {
            return;
        }
        isEnded = true;
        if (timer != null) {
            timer.cancel(false);
        }
        String reason = isOutOfMemory ? PageFailure.MEMORY : refusal;
        if (reason == null) {
            end.onContent(content.take());
        } else {
            content.clear();
            end.onFailure(reason);
        }
    }

    @Override
    public void abort() {
        refusal = "esi-fragment-incomplete";
        finish();
    }

    @Override
    public boolean isWritable() {
        return !isEnded;
    }

    @Override
    public void readContent(boolean on) {}

    @Override
    public long bytesSent() {
        return 0;
    }
}
