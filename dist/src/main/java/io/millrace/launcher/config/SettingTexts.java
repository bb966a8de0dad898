package io.millrace.launcher.config;

import io.millrace.proxy.admin.config.ConfigInspector.Source;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.config.yaml.FlowText;
import io.millrace.worker.control.ConfigSource;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Formats the values of settings as text, and determines their sources. Stateless. */
final class SettingTexts {
    /**
     * Limit of a shown value in characters. A list such as {@code remap} may have a hundred thousand elements.
     */
    private static final int SHOWN_LENGTH_MAX = 4096;

    private SettingTexts() {}

    /** Returns the value as text for the operator, cut at a limit. Returns null if there is no value. */
    static @Nullable String shown(ProxyConfig config, ConfigKey<?> key) {
        return FlowText.of(config.values(), key, SHOWN_LENGTH_MAX);
    }

    /** Returns the complete value as text; null if there is no value. */
    static @Nullable String whole(ProxyConfig config, ConfigKey<?> key) {
        return FlowText.of(config.values(), key, Integer.MAX_VALUE);
    }

    /** The values of the settings that only a new launcher can change, by key. */
    static Map<String, String> ofLauncher(ProxyConfig config) {
        Map<String, String> texts = new HashMap<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            String text = isOfLauncher(key) ? whole(config, key) : null;
            if (text != null) {
                texts.put(key.path(), text);
            }
        }
        return Map.copyOf(texts);
    }

    /** Returns true if only a new launcher can change the setting. */
    static boolean isOfLauncher(ConfigKey<?> key) {
        return key.apply() == ConfigKey.Apply.RELAUNCH && !isKeyOfListElement(key);
    }

    /** Returns true if the key belongs to list elements, such as {@code origins[].name}. */
    static boolean isKeyOfListElement(ConfigKey<?> key) {
        return key.path().indexOf('[') >= 0;
    }

    /**
     * Returns the kind of source of a setting.
     *
     * @param setAt the place where the key was set; null if it was not set
     */
    static Source source(@Nullable SettingPlace setAt) {
        if (setAt == null) {
            return Source.DEFAULT;
        }
        String place = setAt.text();
        // The overlay contains the values that the command millctl config set has changed.
        if (place.startsWith(SettingPlace.OVERLAY)) {
            return Source.OVERLAY;
        }
        return place.startsWith("--") || place.startsWith(ConfigSource.COMMAND_LINE)
                ? Source.COMMAND_LINE
                : Source.FILE;
    }
}
