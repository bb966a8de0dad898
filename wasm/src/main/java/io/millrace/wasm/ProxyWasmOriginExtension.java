package io.millrace.wasm;

import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginRequestView;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.OriginResponseView;
import io.millrace.wasm.abi.FieldEdit;
import io.millrace.wasm.abi.HeaderMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An extension that runs a Proxy-Wasm module for requests to the origin and for its responses, before they are stored.
 * The module does not see requests that the cache answers, so cache hits take no longer.
 *
 * <p>Callbacks for requests run on threads of the extension. Callbacks for responses run on event loops, with a limit
 * of instructions.
 */
public class ProxyWasmOriginExtension implements Extension, OriginRequestHook, OriginResponseHook {
    private @Nullable WasmFilter filter;

    /** Creates an extension that is not open. */
    public ProxyWasmOriginExtension() {}

    @Override
    public int apiVersion() {
        return Extension.API_VERSION;
    }

    @Override
    public String name() {
        return "wasm-origin";
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
        filter = WasmFilter.open(context, transformsBodies());
    }

    /** Returns true if the module also sees contents of responses. */
    boolean transformsBodies() {
        return false;
    }

    /** Called after the callback for the fields of a response. */
    void responded(OriginResponseView response, HttpContext message) {}

    final WasmFilter filter() {
        if (filter == null) {
            throw new IllegalStateException("the extension is not open");
        }
        return filter;
    }

    @Override
    public void originRequest(OriginRequestView request, Continuation<OriginRequestView> continuation) {
        WasmFilter open = filter();
        if (!open.seesRequests()) {
            continuation.proceed();
            return;
        }
        RequestCopy copy = RequestCopy.of(request.request(), request.target(), request.fields());
        open.submit(new OriginCall(HttpContext.ofRequest(copy, false), continuation));
    }

    /** The call for one request to the origin. */
    private final class OriginCall implements RequestWorkers.Call {
        private final HttpContext message;
        private final Continuation<OriginRequestView> continuation;

        OriginCall(HttpContext message, Continuation<OriginRequestView> continuation) {
            this.message = message;
            this.continuation = continuation;
        }

        @Override
        public HttpContext message() {
            return message;
        }

        @Override
        public void done() {
            HeaderMap fields = message.fields(HttpContext.REQUEST_FIELDS);
            if (fields == null || fields.edits().isEmpty()) {
                continuation.proceed();
                return;
            }
            continuation.proceed(request -> FieldEdit.apply(
                    fields.edits(), request.fields(), filter().shared().log()));
        }

        @Override
        public boolean isAbandoned() {
            return continuation.isAbandoned();
        }

        @Override
        public void failed(Throwable cause) {
            continuation.fail(cause);
        }
    }

    @Override
    public void originResponse(OriginResponseView response) {
        WasmFilter open = filter();
        if (!open.seesResponses()) {
            return;
        }
        HeaderMap fields = fields(response);
        HttpContext message = HttpContext.ofResponse(
                () -> null, new HttpContext.Response(response.status(), fields, "", response.url()), Map.of());
        open.respond(message);
        FieldEdit.apply(fields.edits(), response.fields(), open.shared().log());
        responded(response, message);
    }

    /** Copies the fields of a response, with the pseudo field {@code :status}. */
    static HeaderMap fields(OriginResponseView response) {
        return new HeaderMap()
                .with(":status", Integer.toString(response.status()))
                .with(response.fields());
    }

    @Override
    public void close() {
        if (filter != null) {
            filter.close();
        }
    }
}
