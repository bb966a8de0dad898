package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.TlsVersion;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * TLS settings of connections to {@code https} origins. Immutable.
 *
 * @param context settings of the TLS context
 * @param sni source of the server name in the handshake
 * @param name fixed name for the handshake and the certificate, in lower case; null for the name selected by
 *     {@code sni}
 */
public record OriginTlsConfig(
        Context context, Sni sni, @Nullable String name) {
    /** System trust store, full verification, TLS 1.2 and newer. */
    public static final OriginTlsConfig DEFAULTS =
            new OriginTlsConfig(new Context(Verify.ON, null, null, null, TlsVersion.TLS_1_2), Sni.ORIGIN, null);

    /** How the certificate of an origin is verified. */
    public enum Verify {
        /** Verify chain and name. */
        ON,
        /** Verify nothing. */
        OFF,
        /** Verify the name only; any issuer is accepted. */
        NAME,
        /** Verify the chain only; any name is accepted. */
        CHAIN,
        /** Verify chain and name; a failure is logged, and the connection is used. */
        WARN
    }

    /** The server name in a handshake. */
    public enum Sni {
        /** The host to which the connection is made. */
        ORIGIN,
        /** The value of the Host field sent to the origin. */
        HOST
    }

    /**
     * The settings of a TLS context. Immutable.
     *
     * @param caFile PEM file with authorities; null for the trust store of the system
     * @param certificate PEM file with the chain that is presented to origins; null for none
     * @param key PEM file with the private key; null if the certificate file contains the key
     */
    public record Context(
            Verify verify,
            @Nullable Path caFile,
            @Nullable Path certificate,
            @Nullable Path key,
            TlsVersion minVersion) {
        /** Returns true if the context is built from files, which may change. */
        public boolean hasFiles() {
            return caFile != null || certificate != null;
        }
    }

    /** Returns true if the name in the handshake is the value of the Host field. */
    public boolean usesHostField() {
        return name == null && sni == Sni.HOST;
    }

    /** Returns the general settings. */
    public static OriginTlsConfig from(ConfigValues values) {
        return from(values, values);
    }

    /**
     * Returns the settings of a rule.
     *
     * @param own the values that the rule sets; a private key set without a certificate belongs to the general
     *     certificate
     * @param values the values of the rule, completed by the general values
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

    /**
     * Returns the settings for the origin that gets the copies of a rule's requests. It does not get the client
     * certificate and the server names that are configured for other origins.
     *
     * @param own the values that the rule sets; a private key set without a certificate belongs to the general
     *     certificate
     * @param general the general values
     */
    public static OriginTlsConfig ofMirror(ConfigValues own, ConfigValues general) {
        OriginTlsKeys.Section keys = OriginTlsKeys.MIRROR;
        ConfigValues inForce = own.over(general);
        ConfigValues pair = own.isSet(keys.certificate()) ? own : inForce;
        Context context = from(general).context;
        return new OriginTlsConfig(
                new Context(
                        or(inForce.find(keys.verify()), context.verify),
                        inForce.isSet(keys.caFile()) ? inForce.find(keys.caFile()) : context.caFile,
                        pair.find(keys.certificate()),
                        pair.find(keys.key()),
                        or(inForce.find(keys.minVersion()), context.minVersion)),
                inForce.get(keys.sni()),
                lower(inForce.find(keys.name())));
    }

    /** Returns the settings of a group, completed by the general ones. */
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
