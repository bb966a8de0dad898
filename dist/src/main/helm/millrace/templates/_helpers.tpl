{{- define "millrace.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The names of pods add 12 characters and more to this name, so it is short. */}}
{{- define "millrace.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- else if contains (include "millrace.name" .) .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "millrace.name" .) | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selectorLabels" -}}
app.kubernetes.io/name: {{ include "millrace.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "millrace.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "millrace.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "millrace.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "millrace.tokenSecret" -}}
{{- default (printf "%s-tokens" (include "millrace.fullname" .)) .Values.admin.tokenSecret -}}
{{- end -}}

{{/* millrace.yaml: the values below config, with the parts that belong to the pod. */}}
{{- define "millrace.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $listen := list -}}
{{- range .Values.listeners -}}
{{- $listener := dict "address" (printf ":%d" (int .port)) -}}
{{- if .tlsSecret -}}
{{- $directory := printf "/secrets/tls-%s" .name -}}
{{- $_ := set $listener "tls" (dict "certificate" (printf "%s/tls.crt" $directory) "key" (printf "%s/tls.key" $directory)) -}}
{{- end -}}
{{- $listen = append $listen $listener -}}
{{- end -}}
{{- $_ := set $config "listen" $listen -}}
{{- $admin := dict "token_file" "/secrets/tokens/operator" -}}
{{- $_ := set $admin "tokens" (list (dict "name" "prometheus" "file" "/secrets/tokens/prometheus" "role" "viewer")) -}}
{{- if .Values.admin.tlsSecret -}}
{{- $_ := set $admin "listen" (printf ":%d" (int .Values.admin.port)) -}}
{{- $_ := set $admin "tls" (dict "certificate" "/secrets/admin-tls/tls.crt" "key" "/secrets/admin-tls/tls.key") -}}
{{- else -}}
{{- $_ := set $admin "listen" (printf "127.0.0.1:%d" (int .Values.admin.port)) -}}
{{- end -}}
{{- $_ := set $config "admin" $admin -}}
{{- if and .Values.persistence.enabled (not (hasKey $config "storage")) -}}
{{- $_ := set $config "storage" (list (dict "path" "/var/cache/millrace/objects" "size" .Values.persistence.cacheSize)) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* A probe of the admin API, which answers it without a token. */}}
{{- define "millrace.probe" -}}
{{- if .root.Values.admin.tlsSecret -}}
httpGet: {path: {{ .path }}, port: admin, scheme: HTTPS}
{{- else -}}
exec:
  command: [wget, -q, -T, "3", -O, /dev/null, "http://127.0.0.1:{{ .root.Values.admin.port }}{{ .path }}"]
{{- end -}}
{{- end -}}
