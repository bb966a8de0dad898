package io.millrace.proxy.serve;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ErrorPageConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configured error pages by status, for all requests and for each remap rule. Immutable. */
public final class ErrorPages {
    private final Map<Integer, ErrorPageConfig> general;
    private final List<Map<Integer, ErrorPageConfig>> byRemap = new ArrayList<>();

    private ErrorPages(List<ErrorPageConfig> general, List<List<ErrorPageConfig>> byRemap) {
        this.general = byStatus(general);
        for (List<ErrorPageConfig> own : byRemap) {
            Map<Integer, ErrorPageConfig> pages = this.general;
            if (!own.isEmpty()) {
                pages = new HashMap<>(this.general);
                pages.putAll(byStatus(own));
            }
            this.byRemap.add(pages);
        }
    }

    private static Map<Integer, ErrorPageConfig> byStatus(List<ErrorPageConfig> pages) {
        Map<Integer, ErrorPageConfig> byStatus = new HashMap<>();
        for (ErrorPageConfig page : pages) {
            page.statuses().forEach(status -> byStatus.put(status, page));
        }
        return byStatus;
    }

    /** Returns the pages of a configuration; null for a configuration without pages. */
    public static @Nullable ErrorPages of(ProxyConfig config) {
        List<ErrorPageConfig> general = ErrorPageConfig.general(config.values());
        List<List<ErrorPageConfig>> byRemap = ErrorPageConfig.byRemap(config.values());
        return general.isEmpty() && byRemap.stream().allMatch(List::isEmpty) ? null : new ErrorPages(general, byRemap);
    }

    /**
     * Returns the page for a status; null if there is none.
     *
     * @param rule index of the remap rule; negative for none
     */
    public @Nullable ErrorPageConfig find(int rule, int status) {
        return (rule >= 0 && rule < byRemap.size() ? byRemap.get(rule) : general).get(status);
    }
}
