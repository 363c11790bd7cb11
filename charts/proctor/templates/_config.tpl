{{/* The operator's settings (proctor.controller.settings). */}}
{{- define "proctor.operatorConfig" -}}
namespaces: {{ toYaml .Values.watchNamespaces | nindent 2 }}
runnerImage: {{ .Values.images.runner | quote }}
taskImage: {{ .Values.images.task | quote }}
imagePullPolicy: {{ .Values.images.pullPolicy }}
imagePullSecrets: {{ toYaml .Values.images.pullSecrets | nindent 2 }}
network:
  gateway:
    service: {{ include "proctor.name" . }}-gateway
    namespace: {{ .Release.Namespace }}
    port: 8080
    canary: 8082
    podLabels: {{ include "proctor.selector" (list . "gateway") | nindent 6 }}
  {{- if .Values.results.enabled }}
  results:
    service: {{ include "proctor.name" . }}-results
    namespace: {{ .Release.Namespace }}
    port: {{ .Values.results.uploadPort }}
    podLabels: {{ include "proctor.selector" (list . "results") | nindent 6 }}
  {{- end }}
  {{- if .Values.egressProxy.enabled }}
  egressProxy:
    service: {{ include "proctor.name" . }}-egress
    namespace: {{ .Release.Namespace }}
    port: 3128
    podLabels: {{ include "proctor.selector" (list . "egress") | nindent 6 }}
  egressSecretFile: /var/run/proctor/egress/key
  {{- end }}
  requireEnforcement: {{ .Values.network.requireEnforcement }}
  clusterRanges: {{ toYaml .Values.network.clusterRanges | nindent 4 }}
  dnsPorts: {{ toYaml .Values.network.dnsPorts | nindent 4 }}
gatewayTokenFile: /var/run/proctor/operator/token
pricedModels:
{{- if not (or .Values.gateway.prices .Values.gateway.deployments) }} []{{ end }}
{{- range .Values.gateway.prices }}
- {{ .model | quote }}
{{- end }}
{{- range $name, $_ := .Values.gateway.deployments }}
- {{ $name | quote }}
{{- end }}
{{- if .Values.results.enabled }}
results:
  uploadUrl: http://{{ include "proctor.name" . }}-results.{{ .Release.Namespace }}.svc:{{ .Values.results.uploadPort }}
  uploadSeconds: {{ .Values.results.uploadSeconds }}
  readUrl: http://{{ include "proctor.name" . }}-results.{{ .Release.Namespace }}.svc:{{ .Values.results.readPort }}
  tokenFile: /var/run/proctor/results/token
{{- end }}
trial:
  userId: {{ if kindIs "invalid" .Values.trials.userId }}null{{ else }}{{ int64 .Values.trials.userId }}{{ end }}
  allowImageUser: {{ .Values.trials.allowImageUser }}
  userNamespaces: {{ .Values.trials.userNamespaces }}
  gradeResources: {{ toYaml .Values.trials.gradeResources | nindent 4 }}
  finishedPods: {{ .Values.trials.finishedPods }}
  {{- if .Values.results.enabled }}
  maxRecordMiB: {{ int64 .Values.results.maxFolderMiB }}
  {{- end }}
  allowChanges: {{ toYaml .Values.trials.allowChanges | nindent 4 }}
port: 8080
{{- end }}

{{/* The gateway's configuration (proctor.gateway.config); keys are files, never values. */}}
{{- define "proctor.gatewayConfig" -}}
operatorServiceAccount: {{ .Release.Namespace }}/{{ include "proctor.name" . }}-operator
retries: {{ toYaml .Values.gateway.retries | nindent 2 }}
timeouts: {{ toYaml .Values.gateway.timeouts | nindent 2 }}
prices: {{ toYaml .Values.gateway.prices | nindent 2 }}
deployments: {{ toYaml .Values.gateway.deployments | nindent 2 }}
{{- with .Values.gateway.tracing }}
{{- if .otlpEndpoint }}
tracing:
  otlpEndpoint: {{ .otlpEndpoint | quote }}
  {{- if .headersSecretRef.name }}
  headersEnv:
    {{- range $header, $_ := .headersSecretRef.headers }}
    {{ $header }}: PROCTOR_OTLP_{{ $header | upper | replace "-" "_" }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
providers:
{{- if not .Values.gateway.providers }} []{{ end }}
{{- range .Values.gateway.providers }}
- {{ omit . "secretRef" | toYaml | nindent 2 | trim }}
  {{- if .secretRef }}
  apiKeyFile: /var/run/proctor/keys/{{ .name }}/key
  {{- end }}
{{- end }}
{{- end }}

{{/* The results server's configuration (proctor.results.config); passwords are in its environment. */}}
{{- define "proctor.resultsConfig" -}}
folder: /var/lib/proctor/results
operatorServiceAccount: {{ .Release.Namespace }}/{{ include "proctor.name" . }}-operator
{{- with .Values.results.bucket }}
{{- if .url }}
bucket:
  url: {{ .url | quote }}
  config: {{ toYaml .config | nindent 4 }}
{{- end }}
{{- end }}
limits:
  maxFolderMiB: {{ int64 .Values.results.maxFolderMiB }}
retention:
  maxAgeDays: {{ if kindIs "invalid" .Values.results.retention.maxAgeDays }}null{{ else }}{{ .Values.results.retention.maxAgeDays }}{{ end }}
  maxTotalMiB: {{ if kindIs "invalid" .Values.results.retention.maxTotalMiB }}null{{ else }}{{ int64 .Values.results.retention.maxTotalMiB }}{{ end }}
  intervalSeconds: {{ .Values.results.retention.intervalSeconds }}
{{- end }}
