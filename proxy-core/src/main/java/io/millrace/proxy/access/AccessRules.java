package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.access.AccessConfig.ForwardedField;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The access rules of a configuration. They consist of the filters and methods of each remap rule, the right to purge,
 * the trusted proxies, and the client data sent to origins. Immutable.
 */
public final class AccessRules {
    /** The names of the constants of {@link ForwardedField}, in their order. */
    private static final FieldName[] NAMES = {
        FieldName.X_FORWARDED_FOR,
        FieldName.X_FORWARDED_PROTO,
        FieldName.X_FORWARDED_HOST,
        FieldName.FORWARDED,
        FieldName.CLIENT_IP
    };

    /** Rule index of a URL that no rule maps. */
    public static final int NO_RULE = -1;

    private final RequestFilters filters;
    private final MethodPolicy[] methods;
    private final PurgeAccess purges;
    private final AddressRange[] trusted;
    private final ForwardedField[] forwardedFields;
    private final ForwardedClient forwardedClient;
    private final @Nullable SubjectField subject;

    private AccessRules(
            RequestFilters filters,
            MethodPolicy[] methods,
            PurgeAccess purges,
            AddressRange[] trusted,
            ForwardedField[] forwardedFields,
            ForwardedClient forwardedClient,
            @Nullable SubjectField subject) {
        this.filters = filters;
        this.methods = methods;
        this.purges = purges;
        this.trusted = trusted;
        this.forwardedFields = forwardedFields;
        this.forwardedClient = forwardedClient;
        this.subject = subject;
    }

    /** Returns the access rules of a configuration. */
    public static AccessRules of(ProxyConfig config) {
        AccessConfig access = config.access();
        List<RemapRuleConfig> rules = config.remap();
        MethodPolicy[] methods = new MethodPolicy[rules.size() + 1];
        for (int i = 0; i < rules.size(); i++) {
            methods[i] = MethodPolicy.of(rules.get(i).methods());
        }
        methods[rules.size()] = MethodPolicy.of(config.forwardRule().methods());
        return new AccessRules(
                RequestFilters.of(config),
                methods,
                PurgeAccess.of(config),
                access.trustedProxies().toArray(new AddressRange[0]),
                access.forwardedFields().toArray(new ForwardedField[0]),
                new ForwardedClient(access.trusted()),
                SubjectField.of(config.tls().clientSubjectField()));
    }

    /** Returns true if there are filters. Without filters, {@link #denial} need not be called. */
    public boolean hasFilters() {
        return filters.hasAny();
    }

    /**
     * Returns why a request is denied: {@code filter:NAME}, or {@code no-filter:PATH} if no filter of the list at this
     * path of the configuration allows it. Returns null if the request is allowed. Allocates only if the client's
     * address is read from X-Forwarded-For.
     *
     * @param ruleIndex the rule that maps the URL, or {@link #NO_RULE}
     * @param peer address of the sender, null if unknown; 0.0.0.0 for the peer of a Unix socket
     * @param local address that the request was sent to, null if unknown
     */
    public @Nullable String denial(
            int ruleIndex, RequestHead request, @Nullable IpAddress peer, @Nullable IpAddress local) {
        return filters.denial(ruleIndex, request, peer, local);
    }

    /**
     * Returns the client's address for the filters. If the filters use X-Forwarded-For, this is the address that a
     * trusted proxy gives in that field.
     *
     * @param peer address of the sender, null if unknown; 0.0.0.0 for the peer of a Unix socket
     * @return null if unknown
     */
    public @Nullable IpAddress client(RequestHead request, @Nullable IpAddress peer) {
        return filters.client(request, peer);
    }

    /**
     * Returns the client that a trusted proxy names in X-Forwarded-For, otherwise the peer.
     *
     * @param peer address of the sender, null if unknown; 0.0.0.0 for the peer of a Unix socket
     * @return null if unknown
     */
    public @Nullable IpAddress namedClient(RequestHead request, @Nullable IpAddress peer) {
        return forwardedClient.of(request.fields(), peer);
    }

    /**
     * Returns the methods of a rule.
     *
     * @param ruleIndex index of the rule that maps the URL; an index equal to the number of rules denotes the
     *     forward-proxy rule
     */
    public MethodPolicy methods(int ruleIndex) {
        return methods[ruleIndex];
    }

    /** The right to purge. */
    public PurgeAccess purges() {
        return purges;
    }

    /** Returns true if the address belongs to a trusted proxy, whose forwarding fields are used. */
    public boolean isTrusted(@Nullable InetAddress address) {
        if (address != null) {
            for (AddressRange range : trusted) {
                if (range.contains(address)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Returns true if the client's request is protected by TLS as https requires (RFC 9110 s7.4). Either this
     * connection uses TLS, or a trusted proxy reports https.
     *
     * @param client the connection of the request
     */
    public boolean isSecured(FieldSection fields, ClientConnection client) {
        return client.isSecureForClient()
                || (isTrusted(client.remoteAddress().getAddress()) && ForwardedScheme.isHttps(fields));
    }

    /** Returns the URL as the client sees it: a trusted proxy before this one may have ended the client's TLS. */
    public TargetUri clientUrl(RequestHead request, ClientConnection client) {
        TargetUri target = request.target();
        return !target.isSecure() && isSecured(request.fields(), client) ? target.inOtherScheme() : target;
    }

    /**
     * Returns true if a field of the client is not copied to the origin request. This applies to the forwarding fields
     * of untrusted clients, and to fields that this proxy writes itself.
     */
    public boolean isWithheld(FieldSection fields, int line, boolean fromTrusted) {
        if (subject != null && subject.isNameOf(fields, line)) {
            return true;
        }
        if (!fromTrusted) {
            return ForwardingFields.contains(fields, line);
        }
        for (ForwardedField field : forwardedFields) {
            if (fields.isNamed(line, nameOf(field))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns true if the field contains the client's URL or host, although the rule's cache keys contain another one.
     * Such a field is not forwarded, even from a trusted proxy: the response could depend on one client's URL, and all
     * clients would get it. Call only if the cache key has another URL than the request.
     *
     * @param otherHost whether the origin receives another host than the client sent
     */
    public static boolean containsOtherUrl(FieldSection fields, int line, boolean otherHost) {
        return ForwardingFields.containsUrl(fields, line) || (otherHost && ForwardingFields.containsHost(fields, line));
    }

    /** Adds the subject of the client's certificate, if the configuration sends the subject to origins. */
    public void addSubject(ClientConnection client, FieldSection.Builder to) {
        if (subject != null) {
            subject.addTo(client, to);
        }
    }

    /**
     * Returns true if the field contains the subject of the client's certificate. A response that varies by this field
     * is meant for the owner of one certificate.
     */
    public boolean isSubject(FieldName name) {
        return subject != null && subject.hasName(name);
    }

    /**
     * Adds the forwarding fields for the origin. Values of a trusted proxy are kept: addresses are appended to its
     * list, and its scheme and host are used if present.
     *
     * @param otherHost whether the target has another host than the client requested. X-Forwarded-Host and
     *     Forwarded then contain the target's host, and hosts that a trusted proxy sent are dropped
     * @param client the connection of the sender
     */
    public void addForwardingFields(
            FieldSection from,
            boolean fromTrusted,
            boolean otherHost,
            ClientConnection client,
            TargetUri target,
            FieldSection.Builder to) {
        for (ForwardedField field : forwardedFields) {
            FieldName name = nameOf(field);
            boolean namesHost = field == ForwardedField.X_FORWARDED_HOST || field == ForwardedField.FORWARDED;
            String receivedValue = fromTrusted && !(otherHost && namesHost) ? from.joined(name) : null;
            switch (field) {
                case X_FORWARDED_FOR -> addToList(name, receivedValue, client.forwardedText(), to);
                case X_FORWARDED_PROTO -> to.add(name, receivedValue == null ? target.scheme() : receivedValue);
                case X_FORWARDED_HOST -> {
                    if (receivedValue != null || target.hostBytes().length > 0) {
                        to.add(name, receivedValue == null ? target.authority() : receivedValue);
                    }
                }
                case FORWARDED -> addToList(name, receivedValue, forwarded(client.forwardedText(), target), to);
                case CLIENT_IP -> to.add(name, receivedValue == null ? client.forwardedText() : receivedValue);
            }
        }
    }

    private static void addToList(FieldName name, @Nullable String list, String last, FieldSection.Builder to) {
        to.add(name, list == null ? last : list + ", " + last);
    }

    /**
     * Returns one element of Forwarded (RFC 7239 s4). An address with colons is in brackets and quotes; a host is in
     * quotes.
     */
    private static String forwarded(String node, TargetUri target) {
        String text = "for=" + (node.indexOf(':') >= 0 ? "\"[" + node + "]\"" : node) + ";proto=" + target.scheme();
        return target.hostBytes().length == 0 ? text : text + ";host=\"" + target.authority() + "\"";
    }

    @SuppressWarnings("EnumOrdinal") // the table has the order of the constants
    private static FieldName nameOf(ForwardedField field) {
        return NAMES[field.ordinal()];
    }
}
