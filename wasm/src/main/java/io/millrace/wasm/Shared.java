package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.abi.SharedValues;

/**
 * The objects that all instances of one extension share. They survive a reload of the module.
 *
 * @param name the name of the extension
 */
record Shared(String name, WasmSettings settings, ModuleLog log, SharedValues values, MetricTable metrics) {
    static Shared of(ExtensionContext context, WasmSettings settings) {
        ModuleLog log = new ModuleLog(context.log());
        return new Shared(context.name(), settings, log, new SharedValues(), new MetricTable(context, log));
    }
}
