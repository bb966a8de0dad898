package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.status.ExtensionsSource;
import io.millrace.proxy.config.extension.ExtensionSettings;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.extension.HookStatistics;
import io.millrace.proxy.extension.LoadedExtension;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.spi.Extension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The state of a proxy's extensions, as the admin API shows it. Thread-safe. */
final class ExtensionReport implements ExtensionsSource {
    /** Limit of the length of a text from an extension, in characters. */
    private static final int TEXT_MAX = 500;

    private final ProxyView proxy;

    ExtensionReport(ProxyView proxy) {
        this.proxy = proxy;
    }

    @Override
    public List<ExtensionStatus> extensions() {
        List<ExtensionStatus> all = new ArrayList<>();
        for (LoadedExtension extension : proxy.extensions().all()) {
            all.add(status(extension));
        }
        return List.copyOf(all);
    }

    private ExtensionStatus status(LoadedExtension extension) {
        ExtensionJar jar = jar(extension.name());
        List<HookStatus> hooks = new ArrayList<>();
        for (Hook hook : extension.hooks()) {
            HookStatistics figures = extension.figures(hook);
            hooks.add(new HookStatus(hook.label(), figures.calls(), figures.failures(), figures.nanos()));
        }
        return new ExtensionStatus(
                extension.name(),
                text(extension, Extension::version),
                text(extension, Extension::note),
                jar == null ? "" : jar.toString(),
                jar == null ? "" : jar.checksum(),
                extension.entry().extension().getClass().getName(),
                extension.isCircuitOpen() ? "circuit_open" : "active",
                hooks,
                cut(extension.lastFailure()),
                TimeUnit.MILLISECONDS.toSeconds(extension.lastFailureMillis()));
    }

    /** Returns the jar that the configuration names; null for an extension that the embedding application contains. */
    private @Nullable ExtensionJar jar(String name) {
        for (ExtensionSettings settings : proxy.config().extensions().list()) {
            if (settings.name().equals(name)) {
                return settings.jar();
            }
        }
        return null;
    }

    /** Returns a text of an extension; empty if its method fails. */
    private static String text(LoadedExtension extension, Function<Extension, String> method) {
        try {
            return cut(String.valueOf(method.apply(extension.entry().extension())));
        } catch (RuntimeException | LinkageError e) {
            return "";
        }
    }

    private static String cut(String text) {
        return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX);
    }
}
