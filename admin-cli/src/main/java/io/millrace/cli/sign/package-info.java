/**
 * Signs URLs for {@code millctl sign}, and revisions (versions) of the configuration for {@code millctl fleet config}.
 */
@NullMarked
package io.millrace.cli.sign;

import org.jspecify.annotations.NullMarked;
