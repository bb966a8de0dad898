package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.abi.SharedValues;
import io.millrace.wasm.body.HeldBytes;
import io.millrace.wasm.callout.CalloutClient;
import org.jspecify.annotations.Nullable;

/**
 * The objects that all instances of one extension share. They survive a reload of the module.
 *
 * @param name the name of the extension
 * @param callouts the client for HTTP calls; null if the configuration names no upstreams
 * @param bodies the limit of the contents of responses that modules hold
 */
record Shared(
        String name,
        WasmSettings settings,
        ModuleLog log,
        SharedValues values,
        MetricTable metrics,
        @Nullable CalloutClient callouts,
        HeldBytes bodies) {
    static Shared of(ExtensionContext context, WasmSettings settings) {
        ModuleLog log = new ModuleLog(context.log());
        CalloutClient callouts =
                settings.callouts().upstreams().isEmpty() ? null : new CalloutClient(settings.callouts(), context, log);
        return new Shared(
                context.name(),
                settings,
                log,
                new SharedValues(),
                new MetricTable(context, log),
                callouts,
                new HeldBytes());
    }

    /** Ends the threads of the client for HTTP calls. */
    void close() {
        if (callouts != null) {
            callouts.close();
        }
    }
}
