/** Imports of general settings: records, storage, listeners, certificates, logs, DNS and TLS to origins. */
@NullMarked
package io.millrace.launcher.ats.settings;

import org.jspecify.annotations.NullMarked;
