package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.access.ClientLimitKeys;
import io.millrace.proxy.config.access.ErrorPageKeys;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.access.PurgeKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.access.TransparentKeys;
import io.millrace.proxy.config.access.UnixListenKeys;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.cache.CachePolicyKeys;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.cache.CompressionKeys;
import io.millrace.proxy.config.cache.OverloadKeys;
import io.millrace.proxy.config.dns.DnsKeys;
import io.millrace.proxy.config.edge.CorsKeys;
import io.millrace.proxy.config.edge.EsiKeys;
import io.millrace.proxy.config.edge.MirrorKeys;
import io.millrace.proxy.config.edge.SplitKeys;
import io.millrace.proxy.config.extension.ExtensionKeys;
import io.millrace.proxy.config.fleet.FleetKeys;
import io.millrace.proxy.config.geo.GeoKeys;
import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.AlarmKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.TraceKeys;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.origins.HostDatabaseKeys;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.origins.OriginLimitKeys;
import io.millrace.proxy.config.origins.TunnelKeys;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.tls.AcmeKeys;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import io.millrace.proxy.config.tls.ServerTlsKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.InvalidValueException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ConfigCatalogTest {
    @Test
    void listsEveryConstantInItsOrder() throws IllegalAccessException {
        List<ConfigKey<?>> rest = new ArrayList<>(ConfigCatalog.keys());
        for (Class<?> holder : List.of(
                CachePolicyKeys.class,
                CacheKeyKeys.class,
                CompressionKeys.class,
                CacheRulesKeys.class,
                RemapKeys.class,
                PasswordKeys.class,
                TokenKeys.class,
                SignedUrlKeys.class,
                CorsKeys.class,
                MirrorKeys.class,
                EsiKeys.class,
                SplitKeys.class,
                RequestLimitKeys.class,
                ErrorPageKeys.class,
                FleetKeys.class,
                FilterKeys.class,
                RuleKeys.class,
                ExtensionKeys.class,
                OriginGroupKeys.class,
                DnsKeys.class,
                HostDatabaseKeys.class,
                OverloadKeys.class,
                OriginLimitKeys.class,
                TunnelKeys.class,
                ProxyProtocolKeys.class,
                TransparentKeys.class,
                UnixListenKeys.class,
                PurgeKeys.class,
                AdminKeys.class,
                ForwardProxyKeys.class,
                FileKeys.class,
                LogKeys.class,
                AlarmKeys.class,
                TraceKeys.class,
                SharedTlsKeys.class,
                AcmeKeys.class,
                ClientLimitKeys.class,
                Http2Keys.class,
                AuthorizeKeys.class,
                GeoKeys.class,
                ConfigKeys.class)) {
            List<ConfigKey<?>> constants = constants(holder);
            assertEquals(
                    constants,
                    ConfigCatalog.keys().stream().filter(constants::contains).toList());
            rest.removeAll(constants);
        }
        for (List<ConfigKey<?>> keys : List.of(
                OriginTlsKeys.GENERAL.all(),
                OriginTlsKeys.GROUP.all(),
                OriginTlsKeys.MIRROR.all(),
                ServerTlsKeys.GENERAL.all(),
                ServerTlsKeys.LISTEN.all(),
                ServerTlsKeys.NAME.all())) {
            assertEquals(
                    keys, ConfigCatalog.keys().stream().filter(keys::contains).toList());
            rest.removeAll(keys);
        }
        assertEquals(List.of(), rest);
    }

    private static List<ConfigKey<?>> constants(Class<?> holder) throws IllegalAccessException {
        List<ConfigKey<?>> constants = new ArrayList<>();
        for (Field field : holder.getDeclaredFields()) {
            if (field.getType() == ConfigKey.class) {
                constants.add((ConfigKey<?>) field.get(null));
            }
        }
        return constants;
    }

    @Test
    void documentsEveryKeyWithASentence() {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            assertTrue(key.description().endsWith(".") && key.description().length() > 15, key.path());
            assertTrue(key.path().matches("[a-z0-9_.\\[\\]]+"), key.path());
        }
    }

    /** Values are shown, logged and kept in the history. Secrets are therefore in files, and the value is the path. */
    @Test
    void hasNoKeyWhoseValueIsASecret() {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            boolean isSecret = Stream.of(
                            "secret", "password", "passphrase", "token", "credential", "private", "api_key")
                    .anyMatch(key.name()::contains);
            boolean isHarmless =
                    List.of(ValueType.PATH, ValueType.LIST, ValueType.BOOLEAN).contains(key.type());
            assertTrue(!isSecret || isHarmless, key.path());
        }
    }

    @Test
    void documentsEverySection() {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            int dot = key.path().lastIndexOf('.');
            if (dot > 0 && !key.path().substring(0, dot).endsWith("[]")) {
                assertNotNull(ConfigCatalog.sectionSentence(key.path().substring(0, dot)), key.path());
            }
        }
    }

    @Test
    void boundsNumbersSizesAndDurations() {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (List.of("integer", "number", "size", "duration")
                    .contains(key.type().name())) {
                assertNotNull(key.minText(), key.path());
                assertNotNull(key.maxText(), key.path());
            }
        }
    }

    @Test
    void hasDefaultsThatAreValid() throws InvalidValueException {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            checkDefault(key);
        }
    }

    private static <T> void checkDefault(ConfigKey<T> key) throws InvalidValueException {
        T value = key.defaultValue();
        if (value != null) {
            assertEquals(value, key.read(key.type().format(value)), key.path());
        }
    }

    @Test
    void agreesWithTheDefaultsOfTheCachingRules() {
        assertEquals(CacheSettings.DEFAULTS, ProxyConfig.defaults().cache().settings());
    }

    @Test
    void findsKeysAndSuggestsNearOnes() {
        assertSame(ConfigKeys.CACHE_RAM_SIZE, ConfigCatalog.find("cache.ram_size"));
        assertEquals("cache.ram_size", ConfigCatalog.suggest("cache.ram_szie"));
        assertEquals("cache.ram_size", ConfigCatalog.suggest("ram_size"));
        assertEquals(null, ConfigCatalog.suggest("nothing.like.it"));
    }

    @Test
    void takesWordsOfCachingAsTheyAreNamedThere() {
        List<String> words = new ArrayList<>();
        for (StoringRules.RequiredHeaders constant : StoringRules.RequiredHeaders.values()) {
            words.add(constant.text());
        }
        assertEquals(words, ConfigKeys.CACHE_REQUIRED_HEADERS.type().words());
    }
}
