package io.millrace.proxy.spi;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * A section of an extension's configuration. Each method reads one key of the section. A value of the wrong type causes
 * an {@link ExtensionConfigException} with the file, line and column of the value.
 *
 * <p>Confined to the thread that calls {@link Extension#open}.
 */
public interface ExtensionConfig {
    /** The keys of this section, in the order of the file. */
    Set<String> keys();

    /** Returns true if the section has the key. */
    boolean has(String key);

    /**
     * Returns a text.
     *
     * @throws ExtensionConfigException if the key is missing
     */
    String text(String key) throws ExtensionConfigException;

    /** Returns a text; the default if the key is missing. */
    String text(String key, String defaultValue) throws ExtensionConfigException;

    /**
     * Returns an integer; the default if the key is missing.
     *
     * @param min the least permitted value
     * @param max the greatest permitted value
     */
    long number(String key, long defaultValue, long min, long max) throws ExtensionConfigException;

    /** Returns {@code true} or {@code false}; the default if the key is missing. */
    boolean flag(String key, boolean defaultValue) throws ExtensionConfigException;

    /** Returns a duration, such as {@code 30s} or {@code 5m}; the default if the key is missing. */
    Duration duration(String key, Duration defaultValue) throws ExtensionConfigException;

    /** Returns a list of texts; empty if the key is missing. */
    List<String> texts(String key) throws ExtensionConfigException;

    /** Returns a section below this one; an empty section if the key is missing. */
    ExtensionConfig section(String key) throws ExtensionConfigException;

    /** Returns a list of sections; empty if the key is missing. */
    List<ExtensionConfig> sections(String key) throws ExtensionConfigException;

    /**
     * Reports keys that no method of this object has read.
     *
     * @throws ExtensionConfigException if there is such a key
     */
    void rejectOtherKeys() throws ExtensionConfigException;

    /**
     * Returns an exception about the value of a key, for the caller to throw.
     *
     * @param message the fault and the permitted values, without the place
     */
    ExtensionConfigException problem(String key, String message);
}
