package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.key.ValueType;

/** Configuration keys for signed URLs. Remap rules can override all of them. */
public final class SignedUrlKeys {
    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("signed_urls.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .description("Whether requests need a signature, if signed_urls.keys is set.");
    public static final ConfigKey<LoadedFile> KEYS = ConfigKey.builder("signed_urls.keys", ValueType.FILE)
            .perRule()
            .atsName("@plugin=url_sig.so @pparam=FILE")
            .description("File with the keys of signatures, see docs/guide/access.md. A request without a valid"
                    + " signature is answered with 403. The file is read again at each reload. Without it no signature"
                    + " is needed.");
    public static final ConfigKey<String> WHEN = ConfigKey.builder("signed_urls.when", ValueType.STRING)
            .perRule()
            .atsName("excl_regex")
            .description("Condition on the requests that need a signature, such as path =~ \"^/video/\"; see"
                    + " docs/reference/expressions.md. Without it all requests of the rule need one.");
    public static final ConfigKey<SignedUrlConfig.Signed> URL = ConfigKey.builder(
                    "signed_urls.url", ValueType.word(SignedUrlConfig.Signed.class, false))
            .defaultsTo(SignedUrlConfig.Signed.CLIENT)
            .perRule()
            .atsName("@pparam=pristineurl")
            .description("URL that the signature covers: that of the client, or that of the request to the origin.");

    private SignedUrlKeys() {}
}
