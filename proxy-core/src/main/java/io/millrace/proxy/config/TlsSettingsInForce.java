package io.millrace.proxy.config;

import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.tls.ServerTlsKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Computes the TLS settings in force for a certificate's names on each listening address. Each setting is shown with
 * the configuration section that sets it. Stateless.
 */
public final class TlsSettingsInForce {
    private TlsSettingsInForce() {}

    /**
     * A setting in force for some names, for display.
     *
     * @param source section of the configuration that sets it, such as {@code listen[0].tls}; {@code default} for none
     * @param address listening address where it is in force; null for every address
     */
    public record Setting(
            String name,
            String value,
            String source,
            @Nullable String address) {}

    /**
     * Returns every setting in force for the names of a certificate, with its source. Settings left to the TLS library
     * are omitted.
     *
     * @param element index in {@code tls.certificates}; for an automatic certificate at least the number of elements
     * @param own certificate file of a single listening address; null for a certificate that addresses share
     */
    public static List<Setting> of(ProxyConfig config, int element, @Nullable Path own) {
        ConfigValues all = config.values();
        List<ConfigValues> elements = all.elements(SharedTlsKeys.CERTIFICATES);
        SectionValues names = own == null && element < elements.size()
                ? new SectionValues(elements.get(element), ServerTlsKeys.NAME, "tls.certificates[" + element + "]")
                : null;
        Map<String, List<Setting>> byName = new LinkedHashMap<>();
        List<ConfigValues> listeners = all.elements(ConfigKeys.LISTEN);
        int addresses = 0;
        for (int i = 0; i < listeners.size(); i++) {
            ListenerConfig listener = ListenerConfig.from(listeners.get(i), all);
            ListenerConfig.Tls tls = listener.tls();
            if (tls == null || !Objects.equals(tls.certificate(), own)) {
                continue;
            }
            addresses++;
            SectionValues address = new SectionValues(listeners.get(i), ServerTlsKeys.LISTEN, "listen[" + i + "].tls");
            List<SectionValues> sections = new ArrayList<>();
            if (names != null) {
                sections.add(names);
            }
            sections.add(address);
            sections.add(new SectionValues(all, ServerTlsKeys.GENERAL, "tls"));
            for (Setting each : inForce(sections, listener)) {
                byName.computeIfAbsent(each.name(), name -> new ArrayList<>()).add(each);
            }
        }
        List<Setting> settings = new ArrayList<>();
        for (List<Setting> each : byName.values()) {
            Setting first = each.get(0);
            boolean same = each.size() == addresses
                    && each.stream()
                            .allMatch(one -> one.value().equals(first.value())
                                    && one.source().equals(first.source()));
            if (same) {
                settings.add(new Setting(first.name(), first.value(), first.source(), null));
            } else {
                settings.addAll(each);
            }
        }
        return settings;
    }

    /** The settings of one section of the configuration file. */
    private record SectionValues(ConfigValues values, ServerTlsKeys.Section keys, String source) {}

    /**
     * Returns the settings in force on one listening address.
     *
     * @param sections in order of precedence; the general section is last
     */
    private static List<Setting> inForce(List<SectionValues> sections, ListenerConfig listener) {
        String address = listener.address().toString();
        List<Setting> settings = new ArrayList<>();
        SectionValues general = sections.get(sections.size() - 1);
        SectionValues hsts = first(sections, each -> each.values.isSet(each.keys.hstsMaxAge()));
        SectionValues authorities = first(sections, each -> each.values.isSet(each.keys.caFile()));
        for (int i = 0; i < general.keys.all().size(); i++) {
            int key = i;
            ConfigKey<?> named = general.keys.all().get(i);
            SectionValues from =
                    first(sections, each -> each.values.isSet(each.keys.all().get(key)));
            if (named.path().startsWith("tls.hsts.")) {
                // All HSTS settings come from one section; sections are not merged.
                from = hsts != null && hsts.values.isSet(hsts.keys.all().get(key)) ? hsts : null;
            } else if (named.equals(general.keys.crlFile())
                    && authorities != null
                    && from != null
                    && authorities.source.startsWith("tls.certificates")
                    && !from.source.equals(authorities.source)) {
                // Revocation lists of the address do not apply to the certificate's own authorities.
                from = null;
            }
            String name = named.path().substring("tls.".length());
            if (from != null) {
                settings.add(new Setting(
                        name, String.valueOf(from.values.text(from.keys.all().get(key))), from.source, address));
            } else if (named.defaultValue() != null && !name.startsWith("hsts.")) {
                settings.add(new Setting(name, String.valueOf(general.values.text(named)), "default", address));
            }
        }
        settings.add(http2(listener, address, sections));
        return settings;
    }

    /** Returns the setting of HTTP/2, which a certificate's section can only turn off. */
    private static Setting http2(ListenerConfig listener, String address, List<SectionValues> sections) {
        SectionValues first = sections.get(0);
        if (listener.http2() && first.keys.equals(ServerTlsKeys.NAME) && first.values.isSet(SharedTlsKeys.NAME_HTTP2)) {
            return new Setting(
                    "http2", String.valueOf(first.values.get(SharedTlsKeys.NAME_HTTP2)), first.source, address);
        }
        SectionValues own = sections.get(sections.size() - 2);
        boolean set = own.values.isSet(Http2Keys.LISTEN);
        String source = set ? own.source.substring(0, own.source.indexOf('.')) : "default";
        return new Setting("http2", String.valueOf(listener.http2()), source, address);
    }

    private static @Nullable SectionValues first(List<SectionValues> sections, Predicate<SectionValues> test) {
        return sections.stream().filter(test).findFirst().orElse(null);
    }
}
