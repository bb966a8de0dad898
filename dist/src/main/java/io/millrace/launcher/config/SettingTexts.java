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

/** Settings in words: their values, and where they come from. Thread-safe: its methods are static and share nothing. */
final class SettingTexts {
    /** Of a list's text; a remap table may have a hundred thousand rules. */
    private static final int SHOWN_LENGTH_MAX = 4096;

    private SettingTexts() {}

    /** For people; null when there is no value. */
    static @Nullable String shown(ProxyConfig config, ConfigKey<?> key) {
        return FlowText.of(config.values(), key, SHOWN_LENGTH_MAX);
    }

    /** All of it; null when there is no value. */
    static @Nullable String whole(ProxyConfig config, ConfigKey<?> key) {
        return FlowText.of(config.values(), key, Integer.MAX_VALUE);
    }

    /** The values that only another launcher can change. */
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

    /** Whether only another launcher can change it. */
    static boolean isOfLauncher(ConfigKey<?> key) {
        return key.apply() == ConfigKey.Apply.RELAUNCH && !isOfElement(key);
    }

    /** Whether it is a key of a list's elements. */
    static boolean isOfElement(ConfigKey<?> key) {
        return key.path().indexOf('[') >= 0;
    }

    /** @param setAt where the key was set; null for nowhere */
    static Source source(@Nullable SettingPlace setAt) {
        if (setAt == null) {
            return Source.DEFAULT;
        }
        String place = setAt.text();
        if (place.startsWith(SettingPlace.OVERLAY)) {
            return Source.OVERLAY;
        }
        return place.startsWith("--") || place.startsWith(ConfigSource.COMMAND_LINE)
                ? Source.COMMAND_LINE
                : Source.FILE;
    }
}
