package io.millrace.wasm;

import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.Attribute;
import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginRequestView;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.RequestView;
import io.millrace.wasm.abi.FieldEdit;
import io.millrace.wasm.abi.HeaderMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An extension that runs a Proxy-Wasm module for the requests of clients and for the responses to them. The module sees
 * every request, also those that the cache answers.
 *
 * <p>Callbacks for requests run on threads of the extension. Callbacks for responses run on event loops, with a limit of
 * instructions.
 */
public final class ProxyWasmExtension implements Extension, RequestHook, OriginRequestHook, DeliverHook {
    /**
     * The result of a callback for a request.
     *
     * @param edits changes of the fields for the origin
     * @param properties properties for the callback of the response
     */
    private record Decision(List<FieldEdit> edits, Map<String, byte[]> properties) {}

    private final Attribute<Decision> decision = Attribute.of("proxy-wasm");
    private @Nullable WasmFilter filter;

    /** Creates an extension that is not open. */
    public ProxyWasmExtension() {}

    @Override
    public int apiVersion() {
        return Extension.API_VERSION;
    }

    @Override
    public String name() {
        return "wasm";
    }

    @Override
    public String version() {
        return "ABI 0.2.1";
    }

    @Override
    public String note() {
        return filter().note();
    }

    @Override
    public void open(ExtensionContext context) throws Exception {
        filter = WasmFilter.open(context, false);
    }

    private WasmFilter filter() {
        if (filter == null) {
            throw new IllegalStateException("the extension is not open");
        }
        return filter;
    }

    @Override
    public void requestReceived(RequestView request, Reply reply) {
        WasmFilter open = filter();
        if (!open.seesRequests()) {
            reply.proceed();
            return;
        }
        open.submit(new RequestCall(HttpContext.ofRequest(RequestCopy.of(request), true), reply));
    }

    /** The call for one request. */
    private final class RequestCall implements RequestWorkers.Call {
        private final HttpContext message;
        private final Reply reply;

        RequestCall(HttpContext message, Reply reply) {
            this.message = message;
            this.reply = reply;
        }

        @Override
        public HttpContext message() {
            return message;
        }

        @Override
        public void done() {
            Answer answer = message.answer();
            if (answer != null) {
                reply.answer(answer);
                return;
            }
            HeaderMap fields = message.fields(HttpContext.REQUEST_FIELDS);
            List<FieldEdit> edits = fields == null ? List.of() : fields.edits();
            if (edits.isEmpty() && message.properties().isEmpty()) {
                reply.proceed();
                return;
            }
            Decision decided = new Decision(edits, message.properties());
            reply.proceed(request -> request.set(decision, decided));
        }

        @Override
        public boolean isAbandoned() {
            return reply.isAbandoned();
        }

        @Override
        public void failed(Throwable cause) {
            reply.fail(cause);
        }
    }

    @Override
    public void originRequest(OriginRequestView request, Continuation<OriginRequestView> continuation) {
        Decision decided = request.request().get(decision);
        if (decided != null) {
            FieldEdit.apply(decided.edits(), request.fields(), filter().shared().log());
        }
        continuation.proceed();
    }

    @Override
    public void deliver(RequestView request, DeliveredResponse response) {
        WasmFilter open = filter();
        if (!open.seesResponses()) {
            return;
        }
        HeaderMap fields = new HeaderMap()
                .with(":status", Integer.toString(response.status()))
                .with(response.fields());
        Decision decided = request.get(decision);
        open.respond(HttpContext.ofResponse(
                () -> RequestCopy.of(request),
                new HttpContext.Response(response.status(), fields, response.cacheResult(), ""),
                decided == null ? Map.of() : decided.properties()));
        FieldEdit.apply(fields.edits(), response.fields(), open.shared().log());
    }

    @Override
    public void close() {
        if (filter != null) {
            filter.close();
        }
    }
}
