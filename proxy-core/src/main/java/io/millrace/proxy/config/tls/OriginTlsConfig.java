package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.TlsVersion;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * TLS settings for connections to {@code https} origins. Immutable.
 *
 * @param context what the TLS context is made of
 * @param sni which name the handshake asks for
 * @param name fixed name for the handshake and the certificate, lower case; null for the one that {@code sni} says
 */
public record OriginTlsConfig(
        Context context, Sni sni, @Nullable String name) {
    /** System trust store, full verification, TLS 1.2 and newer. */
    public static final OriginTlsConfig DEFAULTS =
            new OriginTlsConfig(new Context(Verify.ON, null, null, null, TlsVersion.TLS_1_2), Sni.ORIGIN, null);

    /** How the certificate of an origin is verified. */
    public enum Verify {
        /** Chain and name. */
        ON,
        /** Neither. */
        OFF,
        /** The name only; any issuer. */
        NAME,
        /** The chain only; any name. */
        CHAIN,
        /** Chain and name; a failure is logged and the connection is used. */
        WARN
    }

    /** The name that a handshake asks for. */
    public enum Sni {
        /** The host that the connection goes to. */
        ORIGIN,
        /** The host in the Host field that the origin is sent. */
        HOST
    }

    /**
     * The settings that a TLS context is made of. Immutable.
     *
     * @param caFile PEM file of authorities; null for the system's trust store
     * @param certificate PEM file with the chain that origins are shown; null for none
     * @param key PEM file of its private key; null where it is in the file of the certificate
     */
    public record Context(
            Verify verify,
            @Nullable Path caFile,
            @Nullable Path certificate,
            @Nullable Path key,
            TlsVersion minVersion) {
        /** Whether it is made of files, which may change. */
        public boolean hasFiles() {
            return caFile != null || certificate != null;
        }
    }

    /** Whether the name in the handshake is that of the Host field. */
    public boolean asksForHostField() {
        return name == null && sni == Sni.HOST;
    }

    /** The general settings. */
    public static OriginTlsConfig from(ConfigValues values) {
        return from(values, values);
    }

    /**
     * The settings of a rule.
     *
     * @param own those that the rule sets; a key without a certificate belongs to the general certificate
     * @param values its own over the general ones
     */
    public static OriginTlsConfig from(ConfigValues own, ConfigValues values) {
        ConfigValues pair = own.isSet(OriginTlsKeys.GENERAL.certificate()) ? own : values;
        return new OriginTlsConfig(
                new Context(
                        values.get(OriginTlsKeys.GENERAL.verify()),
                        values.find(OriginTlsKeys.GENERAL.caFile()),
                        pair.find(OriginTlsKeys.GENERAL.certificate()),
                        pair.find(OriginTlsKeys.GENERAL.key()),
                        values.get(OriginTlsKeys.GENERAL.minVersion())),
                values.get(OriginTlsKeys.GENERAL.sni()),
                lower(values.find(OriginTlsKeys.GENERAL.name())));
    }

    /** The settings of a group over the general ones. */
    public static OriginTlsConfig ofGroup(ConfigValues group, ConfigValues general) {
        OriginTlsKeys.Section own = OriginTlsKeys.GROUP;
        OriginTlsConfig base = from(general);
        Context context = base.context;
        boolean pair = group.isSet(own.certificate());
        return new OriginTlsConfig(
                new Context(
                        or(group.find(own.verify()), context.verify),
                        group.isSet(own.caFile()) ? group.find(own.caFile()) : context.caFile,
                        pair ? group.find(own.certificate()) : context.certificate,
                        pair ? group.find(own.key()) : context.key,
                        or(group.find(own.minVersion()), context.minVersion)),
                or(group.find(own.sni()), base.sni),
                group.isSet(own.name()) ? lower(group.find(own.name())) : base.name);
    }

    private static <T> T or(@Nullable T own, T general) {
        return own == null ? general : own;
    }

    private static @Nullable String lower(@Nullable String name) {
        return name == null ? null : name.toLowerCase(Locale.ROOT);
    }
}
