package io.millrace.proxy.extension.load;

import io.millrace.proxy.config.extension.ExtensionSettings;
import io.millrace.proxy.config.extension.ExtensionsConfig;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.extension.ExtensionEntry;
import io.millrace.proxy.extension.config.SectionConfig;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfig;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The extensions of a configuration and of the embedding application, loaded but not open. Confined to the thread that
 * starts and stops the proxy.
 */
public final class ConfiguredExtensions implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(ConfiguredExtensions.class);

    private final List<ExtensionEntry> entries = new ArrayList<>();
    private final List<ExtensionCode> codes = new ArrayList<>();

    private ConfiguredExtensions() {}

    /**
     * Loads extensions. An element of the configuration without jar and class contains the settings for the
     * application's object of the same name. Objects that no element names come after all elements, with default
     * settings.
     *
     * @param objects extensions of the embedding application
     * @throws IOException if an extension cannot be loaded; then nothing stays open
     */
    public static ConfiguredExtensions load(ExtensionsConfig config, List<ExtensionEntry> objects) throws IOException {
        ConfiguredExtensions loaded = new ConfiguredExtensions();
        List<ExtensionEntry> rest = new ArrayList<>(objects);
        ExtensionLoader loader = new ExtensionLoader();
        try {
            for (ExtensionSettings settings : config.list()) {
                ExtensionEntry object = settings.jar() == null && settings.className() == null
                        ? removeNamed(settings.name(), rest)
                        : null;
                loaded.add(settings, object, loader);
            }
        } catch (IOException | RuntimeException | Error e) {
            loaded.close();
            throw e;
        }
        rest.forEach(object -> loaded.entries.add(limited(object)));
        return loaded;
    }

    private static @Nullable ExtensionEntry removeNamed(String name, List<ExtensionEntry> objects) {
        for (ExtensionEntry object : objects) {
            if (object.name().equals(name)) {
                objects.remove(object);
                return object;
            }
        }
        return null;
    }

    private void add(ExtensionSettings settings, @Nullable ExtensionEntry object, ExtensionLoader loader)
            throws IOException {
        Extension extension;
        if (object == null) {
            ExtensionCode code = loader.load(settings);
            codes.add(code);
            extension = code.extension();
        } else {
            extension = object.extension();
        }
        ExtensionConfig config = object != null && settings.config().equals(ConfigTree.EMPTY)
                ? object.config()
                : SectionConfig.of(settings.config());
        entries.add(new ExtensionEntry(
                settings.name(),
                extension,
                settings.onError(),
                settings.deadline().toNanos(),
                config,
                rule -> rule.usesExtension(settings.name())));
    }

    /**
     * Returns an entry whose hooks are called only for rules that permit the extension in {@code remap[].extensions}.
     */
    private static ExtensionEntry limited(ExtensionEntry object) {
        return new ExtensionEntry(
                object.name(),
                object.extension(),
                object.onError(),
                object.deadlineNanos(),
                object.config(),
                rule -> object.rules().test(rule) && rule.usesExtension(object.name()));
    }

    /** The extensions in the order of their calls. */
    public List<ExtensionEntry> entries() {
        return List.copyOf(entries);
    }

    /** Releases the classes. Called after all extensions were closed. */
    @Override
    public void close() {
        for (ExtensionCode code : codes) {
            try {
                code.close();
            } catch (IOException e) {
                LOG.warn("the jar of an extension cannot be closed", e);
            }
        }
    }
}
