package io.millrace.proxy;

import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.extension.ExtensionEntry;
import io.millrace.proxy.extension.config.SectionConfig;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The part of an extension that all tests need. Subclasses implement hooks. */
class TestExtension implements Extension {
    private volatile @Nullable ExtensionContext context;
    private volatile boolean closed;

    @Override
    public int apiVersion() {
        return API_VERSION;
    }

    @Override
    public String name() {
        return "test";
    }

    @Override
    public void open(ExtensionContext opened) throws Exception {
        context = opened;
    }

    @Override
    public void close() {
        closed = true;
    }

    ExtensionContext context() {
        ExtensionContext now = context;
        if (now == null) {
            throw new IllegalStateException("not open");
        }
        return now;
    }

    boolean isClosed() {
        return closed;
    }

    ExtensionEntry entry() {
        return ExtensionEntry.of(this);
    }

    ExtensionEntry entry(OnError onError) {
        return new ExtensionEntry(
                name(), this, onError, ExtensionEntry.DEADLINE_NANOS, SectionConfig.empty(), rule -> true);
    }

    /** @param millis deadline of asynchronous hooks */
    ExtensionEntry entryWithDeadline(long millis) {
        return new ExtensionEntry(
                name(), this, null, TimeUnit.MILLISECONDS.toNanos(millis), SectionConfig.empty(), rule -> true);
    }
}
