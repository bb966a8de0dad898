package io.millrace.cli.command.config;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Builds request targets for configuration keys. Stateless. */
final class ConfigQuery {
    private ConfigQuery() {}

    /** Returns a target such as {@code /v1/config?key=cache.ram_size&key=dns}. */
    static String ofKeys(List<String> keys) {
        StringBuilder target = new StringBuilder("/v1/config");
        for (String key : keys) {
            target.append(target.indexOf("?") < 0 ? "?key=" : "&key=")
                    .append(URLEncoder.encode(key, StandardCharsets.UTF_8));
        }
        return target.toString();
    }
}
